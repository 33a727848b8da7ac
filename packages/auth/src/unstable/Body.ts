/**
 * Reads response bodies within limits. A limit counts the bytes that the HTTP client returns. `content-length` is not
 * used, because it counts the bytes before the client decompresses them. `content-encoding` does not show whether the
 * client has decompressed the body.
 */
import * as Json from "@assembly-effect/schema/Json"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ErrorText, Gathered, Lost } from "./Failure.ts"
import * as Gathering from "./Gathering.ts"
import * as Diagnosis from "./Diagnosis.ts"

const strict = new TextDecoder("utf-8", { fatal: true })
const lenient = new TextDecoder()

/**
 * The text of a body, or as much of it as was read. `maxBytes` is the limit with which the body was gathered.
 *
 * @since 0.1.0
 * @category utilities
 */
export const textOf = ({ bytes, end }: Pick<Gathered, "bytes" | "end">, maxBytes: number): ErrorText => {
  const broken = (description: string): ErrorText => ({
    text: lenient.decode(bytes.subarray(0, maxBytes)),
    description
  })
  switch (end) {
    case "whole":
      try {
        return { text: strict.decode(bytes), description: undefined }
      } catch {
        return broken("a body that is not UTF-8")
      }
    case "tooLarge":
      return broken(`a body of more than ${maxBytes} bytes`)
    case "late":
      return broken(`a body that did not end within ${Gathering.restMillis / 1000} s`)
    default:
      return broken("an incomplete body")
  }
}

/**
 * Parses a JSON text. Returns `None` if the text is not JSON or is nested deeper than `Json.maxDepth`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseJson = (text: string): Option.Option<unknown> => Result.getSuccess(Json.parse(text))

const enough = { _tag: "Enough" } as const

const fromStream = (
  { stream }: HttpClientResponse.HttpClientResponse,
  gathering: Gathering.Gathering
): Effect.Effect<void, HttpClientError.HttpClientError> =>
  stream.pipe(
    Stream.runForEachArray((pieces) => {
      for (const piece of pieces) gathering.take(piece)
      return gathering.isSettled ? Effect.fail(enough) : Effect.void
    }),
    Effect.catch((error) => (error._tag === "Enough" ? Effect.void : Effect.fail(error)))
  )

/**
 * Passes a response to a gathering, which stops the reading at its limits.
 *
 * @since 0.1.0
 * @category utilities
 */
export const into = (
  response: HttpClientResponse.HttpClientResponse,
  gathering: Gathering.Gathering
): Effect.Effect<void, Lost> =>
  Effect.suspend(() => {
    gathering.begin(response.status, response.headers)
    if (gathering.isSettled) return Effect.void
    return fromStream(response, gathering).pipe(
      Effect.catch((error) =>
        // Some clients fail with `EmptyBodyError` for a response without a body.
        error.reason._tag === "EmptyBodyError" ? Effect.void : Effect.fail(Diagnosis.diagnose(error))
      )
    )
  })
