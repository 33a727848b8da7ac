/**
 * Bodies of answers, read as text within limits. A limit counts the bytes as they come out of the HTTP client: what
 * `content-length` tells are those on the wire, which a client may have decompressed, whether `content-encoding` is
 * still to be seen or not.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import * as Bytes from "../unstable/Bytes.ts"
import * as Diagnosis from "./diagnosis.ts"
import type { Lost } from "./lost.ts"

/**
 * A body that is too large or not UTF-8; `start` is what was read of it, and may repeat a credential.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableBody extends Data.TaggedError("UnreadableBody")<{
  readonly problem: string
  readonly start: Uint8Array
}> {}

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

/** The end of reading: a limit was exceeded. */
const exceeded = Effect.fail({ _tag: "Exceeded" } as const)

/**
 * Reads a body into `chunks`, and leaves it at the first chunk that exceeds `maxBytes`, which is the last one then.
 * Answers whether the body came to its end within the limit. `Stream.limitBytes` would drop that chunk, of which an error
 * shows the start.
 */
const readInto = (
  chunks: Array<Uint8Array>,
  { stream }: Response,
  maxBytes: number
): Effect.Effect<boolean, HttpClientError.HttpClientError> =>
  Effect.suspend(() => {
    let size = 0
    return stream.pipe(
      Stream.runForEachArray((pieces) => {
        for (const piece of pieces) {
          chunks.push(piece)
          size += piece.length
          if (size > maxBytes) return exceeded
        }
        return Effect.void
      }),
      Effect.as(true),
      Effect.catchTags({
        Exceeded: () => Effect.succeed(false),
        // Some clients have no stream for an answer without a body.
        HttpClientError: (error) => (error.reason._tag === "EmptyBodyError" ? Effect.succeed(true) : Effect.fail(error))
      })
    )
  })

/**
 * The body as text: at most `maxBytes`, and strict UTF-8. The stream is left at the first byte too many.
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

/** How far an exchange has come, where somebody limits its time. */
interface Progress {
  isDecided: boolean
}

const ProgressRef = Context.Reference<Progress | undefined>("@assembly-effect/auth/Transport/Progress", {
  defaultValue: () => undefined
})

/**
 * What the body of an error says, as far as it could be read: strict UTF-8 where `problem` is undefined, else the start
 * of it, which may repeat a credential and break off in the middle of one.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorText {
  readonly text: string
  readonly problem: string | undefined
}

/** For a body that follows a status which decides without it. */
const rest = Duration.seconds(5)

/**
 * Reads what follows a status that decides by itself, in at most 5 seconds; `orElse` where it takes longer. A limit of
 * time around it waits for it, see {@link withLimit}.
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
 * Whether the body of an answer, which says nothing, comes to its end within `maxBytes`. It takes at most 5 seconds.
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
 * Limits the time of an exchange: `limit` is what fails when it is over. While what follows a status is read, that
 * reading has a limit of its own, so that no status is lost to a clock.
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
 * Reads the body of an answer whose status says that it is an error. It never fails: the status is known, and a body
 * that breaks off, hangs, is too large or is no text only costs its words. It takes at most 5 seconds.
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
      Effect.catch(() => Effect.succeed(broken("a body that breaks off")))
    )
    return afterStatus(reading, () => broken(`a body that did not end within ${Duration.toSeconds(rest)} s`))
  })
