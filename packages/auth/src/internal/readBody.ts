/**
 * Reads response bodies as text, within limits. A limit counts the bytes that the HTTP client returns. `content-length`
 * is not used, because it counts the bytes before the client decompresses them. `content-encoding` does not show
 * whether the client has decompressed the body.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import type { BodyReader } from "../unstable/BodyReader.ts"
import * as Bytes from "../unstable/Bytes.ts"
import * as Diagnosis from "./diagnosis.ts"
import { type ErrorText, type Lost, UnreadableBody } from "../unstable/Failure.ts"

const tooLarge = (maxBytes: number) => `a body of more than ${maxBytes} bytes`
const notUtf8 = "a body that is not UTF-8"

const strict = new TextDecoder("utf-8", { fatal: true })
const lenient = new TextDecoder()

const toText = (bytes: Uint8Array): Effect.Effect<string, UnreadableBody> => {
  try {
    return Effect.succeed(strict.decode(bytes))
  } catch {
    return Effect.fail(new UnreadableBody({ problem: notUtf8, start: bytes }))
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

/**
 * Reads a body into `chunks`, and stops at the chunk with which the body exceeds `maxBytes`. This chunk is included,
 * because an error shows the beginning of the body. `Stream.limitBytes` would drop this chunk. Returns whether the body
 * ended within the limit.
 */
const readInto = (
  chunks: Array<Uint8Array>,
  response: Response,
  maxBytes: number
): Effect.Effect<boolean, HttpClientError.HttpClientError> =>
  Effect.suspend(() => {
    let size = 0
    return takePieces(response, (piece) => {
      chunks.push(piece)
      size += piece.length
      return size <= maxBytes
    }).pipe(
      Effect.map(() => size <= maxBytes),
      // Some clients fail with `EmptyBodyError` for a response without a body.
      Effect.catch((error) => (error.reason._tag === "EmptyBodyError" ? Effect.succeed(true) : Effect.fail(error)))
    )
  })

/**
 * Reads the body as strict UTF-8 text of at most `maxBytes`. Reading stops at the chunk with which the body exceeds
 * this limit.
 *
 * @since 0.1.0
 * @category utilities
 */
export const readText = (
  response: HttpClientResponse.HttpClientResponse,
  { maxBytes }: { readonly maxBytes: number }
): Effect.Effect<string, Lost | UnreadableBody> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    return readInto(chunks, response, maxBytes).pipe(
      Effect.mapError(Diagnosis.diagnose),
      Effect.flatMap((isWhole) =>
        isWhole
          ? toText(Bytes.join(chunks))
          : Effect.fail(new UnreadableBody({ problem: tooLarge(maxBytes), start: Bytes.join(chunks.slice(0, 1)) }))
      )
    )
  })

/** The progress of an exchange with a time limit. */
interface Progress {
  isDecided: boolean
}

const ProgressRef = Context.Reference<Progress | undefined>("@assembly-effect/auth/Transport/Progress", {
  defaultValue: () => undefined
})

/** The time limit for reading a body after the status has decided the outcome. */
const rest = Duration.seconds(5)

/**
 * Reads a body after the status has decided the outcome. Returns the result of `orElse` if the reading takes longer
 * than 5 seconds. During this reading, the time limit of {@link withLimit} does not end the exchange.
 */
const afterStatus = <A, R>(reading: Effect.Effect<A, never, R>, orElse: () => A): Effect.Effect<A, never, R> =>
  Effect.flatMap(ProgressRef, (progress) => {
    const limited = Effect.timeoutOrElse(reading, { duration: rest, orElse: () => Effect.sync(orElse) })
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
 * Reads and ignores the body of a response, for at most 5 seconds. Returns whether the body ends within `maxBytes`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const ends = (response: Response, { maxBytes }: { readonly maxBytes: number }): Effect.Effect<boolean> =>
  afterStatus(
    Effect.orElseSucceed(readInto([], response, maxBytes), () => false),
    () => false
  )

/**
 * Limits the time of an exchange. `limit` is an effect that fails when the time is over. After the status has decided
 * the outcome, only the time limit of {@link afterStatus} counts, so that the status is not lost.
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
      Effect.tapError(limit, () => (progress.isDecided ? Effect.sleep(rest) : Effect.void))
    )
  })

/**
 * Reads the body of an error response, for at most 5 seconds. If the body breaks off, hangs, is too large or is not
 * UTF-8, the effect does not fail: the status is known, and only the message in the body is lost.
 *
 * @since 0.1.0
 * @category utilities
 */
export const readError = (
  response: HttpClientResponse.HttpClientResponse,
  { maxBytes }: { readonly maxBytes: number }
): Effect.Effect<ErrorText> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    const start = () => Bytes.join(chunks).subarray(0, maxBytes)
    const broken = (problem: string): ErrorText => ({ text: lenient.decode(start()), problem })
    const whole = Effect.suspend(() => toText(start())).pipe(
      Effect.map((text): ErrorText => ({ text, problem: undefined })),
      Effect.orElseSucceed(() => broken(notUtf8))
    )

    const reading = readInto(chunks, response, maxBytes).pipe(
      Effect.flatMap((isWhole) => (isWhole ? whole : Effect.succeed(broken(tooLarge(maxBytes))))),
      Effect.catch(() => Effect.succeed(broken("an incomplete body")))
    )
    return afterStatus(reading, () => broken(`a body that did not end within ${Duration.toSeconds(rest)} s`))
  })
