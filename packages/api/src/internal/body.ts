import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import * as Transport from "../Transport.ts"
import * as Redact from "./redact.ts"

const excerptBytes = 8 * 1024
const lenient = new TextDecoder()
const empty = new Uint8Array(0)

const concat = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0]
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** The length that HTTP itself holds the body to; none where it is unknown or counts compressed bytes. */
const framedLength = (response: HttpClientResponse.HttpClientResponse): number | undefined => {
  const { headers } = response
  const length = headers["content-length"]
  return length !== undefined && /^\d+$/.test(length) && headers["content-encoding"] === undefined
    ? Number(length)
    : undefined
}

export interface Options extends Transport.Subject {
  readonly maxBytes: number
  readonly secrets: ReadonlyArray<string>
}

/**
 * The body as text: at most `maxBytes`, and strict UTF-8. A length that HTTP enforces is checked before anything is
 * read; else the stream is left at the first byte too many.
 */
export const readText = (
  response: HttpClientResponse.HttpClientResponse,
  options: Options
): Effect.Effect<string, ApiError.UnexpectedResponse | ApiError.TransportFailure> => {
  const { maxBytes, secrets, ...subject } = options

  const unexpected = (problem: string, bytes: Uint8Array) =>
    new ApiError.UnexpectedResponse({
      ...subject,
      status: response.status,
      problem,
      excerpt: Redact.excerpt(lenient.decode(bytes.subarray(0, excerptBytes)), secrets)
    })

  const tooLarge = (bytes: Uint8Array) => Effect.fail(unexpected(`a body of more than ${maxBytes} bytes`, bytes))

  const toText = (bytes: Uint8Array) => {
    try {
      return Effect.succeed(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    } catch {
      return Effect.fail(unexpected("a body that is not UTF-8", bytes))
    }
  }

  /** Some clients have no stream for an answer without a body. */
  const readFailure = (error: HttpClientError.HttpClientError) =>
    error.reason._tag === "EmptyBodyError" ? Effect.succeed(empty) : Effect.fail(Transport.toFailure(subject)(error))

  const length = framedLength(response)
  if (length !== undefined) {
    if (length > maxBytes) return tooLarge(empty)
    return response.arrayBuffer.pipe(
      Effect.map((buffer) => new Uint8Array(buffer)),
      Effect.catch(readFailure),
      Effect.flatMap(toText)
    )
  }

  return Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return response.stream.pipe(
      Stream.runForEachArray((pieces) => {
        for (const chunk of pieces) {
          size += chunk.length
          if (size > maxBytes) return tooLarge(chunks[0] ?? chunk)
          chunks.push(chunk)
        }
        return Effect.void
      }),
      Effect.map(() => concat(chunks, size)),
      Effect.catchTag("HttpClientError", readFailure),
      Effect.flatMap(toText)
    )
  })
}
