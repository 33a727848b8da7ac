/**
 * Reads response bodies as text, within limits. A limit counts the bytes that the HTTP client returns. `content-length`
 * is not used, because it counts the bytes before the client decompresses them. `content-encoding` does not show
 * whether the client has decompressed the body.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import type { BodyReader } from "../unstable/BodyReader.ts"
import * as Bytes from "../unstable/Bytes.ts"
import * as Diagnosis from "./diagnosis.ts"
import { type ErrorText, type Gathered, type Lost, UnreadableBody } from "../unstable/Failure.ts"

const strict = new TextDecoder("utf-8", { fatal: true })
const lenient = new TextDecoder()

/** The time for reading a body after the status has decided the outcome. */
export const restMillis = 5_000

/**
 * The text of a body, or as much of it as was read. `maxBytes` is the limit with which the body was gathered.
 *
 * @since 0.1.0
 * @category utilities
 */
export const textOf = ({ bytes, end }: Pick<Gathered, "bytes" | "end">, maxBytes: number): ErrorText => {
  const broken = (problem: string): ErrorText => ({
    text: lenient.decode(bytes.subarray(0, maxBytes)),
    description: problem
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
      return broken(`a body that did not end within ${restMillis / 1000} s`)
    default:
      return broken("an incomplete body")
  }
}

type Response = HttpClientResponse.HttpClientResponse

const enough = { _tag: "Enough" } as const

const fromStream = (
  { stream }: Response,
  take: (piece: Uint8Array) => boolean
): Effect.Effect<void, HttpClientError.HttpClientError> =>
  stream.pipe(
    Stream.runForEachArray((pieces) => (pieces.every(take) ? Effect.void : Effect.fail(enough))),
    Effect.catch((error) => (error._tag === "Enough" ? Effect.void : Effect.fail(error)))
  )

const readers = new WeakMap<HttpClient.HttpClient, BodyReader>()
const readerOf = new WeakMap<Response, BodyReader>()

/**
 * Registers a reader for the responses of exactly this client. The reader is faster than the `stream` of a response,
 * and must return the same bytes and errors. A client that is made from this client, by `HttpClient.transformResponse`
 * for example, has no reader.
 *
 * @since 0.1.0
 * @category registration
 */
export const registerReader = (client: HttpClient.HttpClient, reader: BodyReader): void => {
  readers.set(client, reader)
}

/**
 * Remembers that the registered reader of the client can read the body of this response.
 */
export const received = (client: HttpClient.HttpClient, response: HttpClientResponse.HttpClientResponse): void => {
  const reader = readers.get(client)
  if (reader !== undefined) readerOf.set(response, reader)
}

/** Passes the pieces of a response body to `take` until `take` returns false. The rest of the body is not read. */
const takePieces = (
  response: Response,
  take: (piece: Uint8Array) => boolean
): Effect.Effect<void, HttpClientError.HttpClientError> =>
  readerOf.get(response)?.(response, take) ?? fromStream(response, take)

/** The progress of an exchange with a time limit. */
interface Progress {
  isDecided: boolean
}

const ProgressRef = Context.Reference<Progress | undefined>("@assembly-effect/auth/Transport/Progress", {
  defaultValue: () => undefined
})

/** Runs `reading` for at most {@link restMillis}. Meanwhile, the limit of {@link withLimit} does not end the exchange. */
const afterStatus = <A>(reading: Effect.Effect<A>, orElse: () => A): Effect.Effect<A> =>
  Effect.flatMap(ProgressRef, (progress) => {
    const limited = Effect.timeoutOrElse(reading, { duration: restMillis, orElse: () => Effect.sync(orElse) })
    if (progress === undefined) return limited
    progress.isDecided = true
    return Effect.ensuring(
      limited,
      Effect.sync(() => {
        progress.isDecided = false
      })
    )
  })

/**
 * Reads a body up to the chunk with which it exceeds `maxBytes`. `Stream.limitBytes` would drop this chunk, from which
 * an error shows the beginning. If the status has decided the outcome (`isDecided`, by default each status but a
 * success), the body may take {@link restMillis}.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gather = (
  response: Response,
  {
    isDecided = response.status < 200 || response.status >= 300,
    maxBytes
  }: { readonly maxBytes: number; readonly isDecided?: boolean | undefined }
): Effect.Effect<Gathered> =>
  Effect.suspend(() => {
    const { headers, status } = response
    const chunks: Array<Uint8Array> = []
    let size = 0
    const settled = (end: Gathered["end"]): Gathered => ({ status, headers, bytes: Bytes.join(chunks), end })
    const reading = takePieces(response, (piece) => {
      chunks.push(piece)
      size += piece.length
      return size <= maxBytes
    }).pipe(
      Effect.match({
        onSuccess: () => settled(size <= maxBytes ? "whole" : "tooLarge"),
        // Some clients fail with `EmptyBodyError` for a response without a body.
        onFailure: (error) => settled(error.reason._tag === "EmptyBodyError" ? "whole" : Diagnosis.diagnose(error))
      })
    )
    return isDecided ? afterStatus(reading, () => settled("late")) : reading
  })

/**
 * Reads the body as strict UTF-8 text of at most `maxBytes`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const readText = (
  response: Response,
  { maxBytes }: { readonly maxBytes: number }
): Effect.Effect<string, Lost | UnreadableBody> =>
  Effect.flatMap(
    gather(response, { maxBytes, isDecided: false }),
    (gathered): Effect.Effect<string, Lost | UnreadableBody> => {
      const { bytes, end } = gathered
      if (typeof end !== "string") return Effect.fail(end)
      const { description, text } = textOf(gathered, maxBytes)
      return description === undefined
        ? Effect.succeed(text)
        : Effect.fail(new UnreadableBody({ description, start: bytes }))
    }
  )

/**
 * Reads the body of an error response. If the body breaks off, hangs, is too large or is not UTF-8, the effect does not
 * fail: the status is known, and only the message in the body is lost.
 *
 * @since 0.1.0
 * @category utilities
 */
export const readError = (response: Response, { maxBytes }: { readonly maxBytes: number }): Effect.Effect<ErrorText> =>
  Effect.map(gather(response, { maxBytes, isDecided: true }), (gathered) => textOf(gathered, maxBytes))

/**
 * Limits the time of an exchange. `limit` is an effect that fails when the time is over. After the status has decided
 * the outcome, only {@link restMillis} counts, so that the status is not lost.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withLimit = <A, E, R, E2, R2>(
  exchange: Effect.Effect<A, E, R>,
  limit: Effect.Effect<never, E2, R2>
): Effect.Effect<A, E | E2, R | R2> =>
  Effect.suspend(() => {
    const progress: Progress = { isDecided: false }
    return Effect.raceFirst(
      Effect.provideService(exchange, ProgressRef, progress),
      Effect.tapError(limit, () => (progress.isDecided ? Effect.sleep(restMillis) : Effect.void))
    )
  })
