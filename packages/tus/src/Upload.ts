/**
 * Uploads a source: creates the upload, sends the bytes, and after a failure continues at the offset that the server
 * reports.
 */
import type * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as HttpClient from "effect/http/HttpClient"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as Continuation from "./internal/continuation.ts"
import * as Events from "./internal/events.ts"
import * as Interpreter from "./internal/interpreter.ts"
import * as OptionRules from "./internal/options.ts"
import * as Removal from "./internal/removal.ts"
import * as Session from "./internal/session.ts"
import * as StateStore from "./internal/stateStore.ts"
import * as Telemetry from "./internal/telemetry.ts"
import type { UploadError } from "./UploadError.ts"
import type { UploadEvent, UploadResult } from "./UploadEvent.ts"
import { SourceFailed, type UploadSource } from "./UploadSource.ts"
import * as UploadState from "./UploadState.ts"
import type { UploadTarget, UploadUrl } from "./UploadTarget.ts"

export { CanStream } from "./internal/session.ts"

export type { UploadError }

/**
 * The name of a checksum algorithm in the header `upload-checksum` (tus 1.0.0).
 *
 * @since 0.1.0
 * @category models
 */
export type ChecksumAlgorithm = "sha1" | "sha256" | "sha384" | "sha512"

/**
 * - `metadata`: `filename` and `fieldname`, and other keys for the Steps of the Assembly.
 * - `maxRetries`: the maximum number of consecutive failures that are retried; progress resets the count. The default
 *   is 8, or the limit of a `RetryPolicy` that the program provides.
 * - `retryDelay`: the maximum pause after the first failure, 500 ms by default. Each further failure doubles this
 *   maximum, up to 30 seconds. Each pause is random, and at least half of its maximum. If the server requests a pause,
 *   the upload pauses at least that long. A provided `RetryPolicy` has its own pauses.
 * - `stallTimeout`: the maximum time without progress in a request, 30 seconds by default.
 * - `finishTimeout`: the maximum time that the server may take to respond after the last byte of a request, or to
 *   concatenate the parts, 10 minutes by default. If a small source is sent with the creation, the time starts when
 *   this request is sent.
 * - `maxWait`: the longest pause that a server may request. The default is 1 hour, or the limit of a provided
 *   `RetryPolicy`. If the server requests a longer pause, the upload fails with the error of that response, whose
 *   `retryAfter` is the pause.
 * - `chunkSize`: the maximum size of one request body, in bytes. By default a source that can be read again is sent in
 *   one request, and a one-shot stream in requests of at most 8 MiB. If request bodies are not streamed, the default
 *   is 8 MiB for every source; see `CanStream`.
 * - `checksum`: sends each body with its checksum, if the server supports the algorithm. Bytes that the server reports
 *   as changed in transit (460) are sent again. With checksums, bodies are held in memory, `chunkSize` is 8 MiB by
 *   default, and small sources are not sent with the creation. If the server does not support the algorithm, no
 *   checksum is sent; see `Tus.discover`. By default no checksum is sent.
 * - `parallel`: the maximum number of parts, each of at least 1 MiB, that are uploaded in parallel and concatenated by
 *   the server. With a number above 1, the source must be a `Replayable`. The default is 1.
 * - `progressInterval`: the minimum time between two `Progress` events. If another event follows earlier, the newest
 *   `Progress` that is still held back is emitted before this event. By default every `Progress` is emitted.
 *
 * `withPolicy`, `none`, `layer` and `layerNone` of `@assembly-effect/api/RetryPolicy` set the retry policy of uploads
 * too, within the limits of `maxRetries` and `maxWait`.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly metadata: { readonly filename: string; readonly fieldname: string } & Readonly<Record<string, string | null>>
  readonly maxRetries?: number | undefined
  readonly retryDelay?: Duration.Input | undefined
  readonly stallTimeout?: Duration.Input | undefined
  readonly finishTimeout?: Duration.Input | undefined
  readonly maxWait?: Duration.Input | undefined
  readonly chunkSize?: number | undefined
  readonly checksum?: ChecksumAlgorithm | undefined
  readonly parallel?: number | undefined
  readonly progressInterval?: Duration.Input | undefined
}

type Sending = Effect.Effect<void, UploadError, HttpClient.HttpClient | Scope.Scope>

/** Adds a clean-up to the work of a session. The clean-up runs if the work fails or is interrupted. */
type AtEnd = (work: Sending, session: Session.Session<never>) => Sending

const program = (
  target: UploadTarget,
  source: UploadSource,
  options: Options,
  emit: Events.Emit,
  atEnd: AtEnd
): Sending =>
  Effect.gen(function* () {
    yield* OptionRules.check({ ...options, source })
    const { parallel = 1 } = options
    const tell = yield* Events.paced(emit, options.progressInterval)
    const plan = source._tag === "OneShot" ? UploadState.planned : UploadState.inParts(source.size, parallel)
    const session = yield* Session.make(target, options, tell, StateStore.forgetful(plan))
    yield* atEnd(Interpreter.run({ session, source, concurrency: parallel }), session)
  })

const observed = (
  target: UploadTarget,
  source: UploadSource,
  options: Options,
  emit: Events.Emit,
  atEnd: AtEnd = identity
) => Telemetry.observe("Upload", source, emit, (tell) => program(target, source, options, tell, atEnd))

/**
 * Uploads a source and emits events. The upload does not wait for the reader of its events. Interrupting the stream
 * ends the request, and the upload stays on the server. With `parallel`, a failure or an interruption removes the parts
 * from the server, unless the server may already have concatenated them.
 *
 * @example
 * Upload.events(target, source, { metadata: { filename: "cat.jpg", fieldname: "file" } }).pipe(
 *   Stream.runForEach((event) => Console.log(event._tag))
 * )
 *
 * @since 0.1.0
 * @category running
 */
export const events = (
  target: UploadTarget,
  source: UploadSource,
  options: Options
): Stream.Stream<UploadEvent, UploadError, HttpClient.HttpClient> =>
  Events.fromProgram((emit) => observed(target, source, options, emit))

/**
 * Uploads a source and returns when all bytes are stored.
 *
 * @example Upload.run(target, UploadSource.fromBytes(bytes), { metadata: { filename: "a.txt", fieldname: "file" } })
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  target: UploadTarget,
  source: UploadSource,
  options: Options
): Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient> =>
  Events.toResult((emit) => observed(target, source, options, emit))

/**
 * The options of {@link resume}. `parallel` is omitted, because an existing upload at one URL has no parts.
 *
 * @since 0.1.0
 * @category options
 */
export interface ResumeOptions extends Omit<Options, "parallel"> {}

const resumption = (
  target: UploadTarget,
  url: UploadUrl,
  source: UploadSource,
  options: ResumeOptions,
  emit: Events.Emit
) =>
  Continuation.send(
    // The marker (the metadata value that identifies the creation) is unknown: the program has stored only the URL.
    { name: "Upload", target, source, upload: { marker: "", url }, isReplayed: false },
    options,
    emit
  )

/**
 * Continues an upload at a URL that the program has stored, and returns when all bytes are stored.
 *
 * **When to use**
 *
 * Use `resume` if your program stores the upload URL itself, and does not use an `UploadJournal`. Encode the
 * `url` of the event `Created` with `UploadTarget.urlAtRest`, and store the text as a secret. Decode the text in the
 * next run; decoding checks the URL again.
 *
 * **Details**
 *
 * The offset is requested from the server, and only the remaining bytes are sent. `metadata` must be the metadata of
 * the creation. If the server reports another length than the size of the source, or other metadata, the call fails
 * with `UploadMismatch`. A one-shot stream must start with the first byte of the upload. If the upload is incomplete,
 * and the server has stored more bytes than the upload holds of a one-shot stream in memory (`chunkSize` bytes and at
 * most one chunk of the stream), the call fails with `SourceFailed`.
 *
 * @example
 * Effect.gen(function* () {
 *   const url = yield* Schema.decodeEffect(UploadTarget.urlAtRest(target))(stored)
 *   return yield* Upload.resume(target, url, source, { metadata: { filename: "cat.jpg", fieldname: "file" } })
 * })
 *
 * @since 0.1.0
 * @category running
 */
export const resume = (
  target: UploadTarget,
  url: UploadUrl,
  source: UploadSource,
  options: ResumeOptions
): Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient> =>
  Events.toResult((emit) => resumption(target, url, source, options, emit))

/**
 * Runs the same upload as {@link resume}, and emits its events.
 *
 * @since 0.1.0
 * @category running
 */
export const resumeEvents = (
  target: UploadTarget,
  url: UploadUrl,
  source: UploadSource,
  options: ResumeOptions
): Stream.Stream<UploadEvent, UploadError, HttpClient.HttpClient> =>
  Events.fromProgram((emit) => resumption(target, url, source, options, emit))

/**
 * The options of {@link sink}: those of {@link Options} without `parallel` and `progressInterval`, and:
 *
 * - `size`: the number of bytes of the stream, if known. If the stream has another number of bytes, the sink fails with
 *   `SourceFailed`.
 * - `onFailure`: what happens to an upload that failed or was interrupted. `terminate` (default) removes this upload
 *   from the server. `keep` leaves this upload on the server until it expires; the URL of the upload is in the receipts
 *   of the Assembly (`tus_uploads`).
 *
 * @since 0.1.0
 * @category options
 */
export interface SinkOptions extends Omit<Options, "parallel" | "progressInterval"> {
  readonly size?: bigint | undefined
  readonly onFailure?: "terminate" | "keep" | undefined
}

/**
 * A sink that uploads the bytes of a stream, and returns when all bytes are stored.
 *
 * **When to use**
 *
 * Use `sink` at the end of a pipeline: for the body of a request, the rows of a database, or an archive that is still
 * being written.
 *
 * **Details**
 *
 * - The stream is uploaded as a one-shot source. At most `chunkSize` bytes (8 MiB by default) and one chunk of the
 *   stream are held in memory; with `checksum`, or without streaming (see `CanStream`), also a copy of the bytes of one
 *   request. More of the stream is read only after the server has acknowledged bytes that are held. The upload recovers
 *   from temporary failures of the network and of the server.
 * - If the stream fails, dies or is interrupted, the upload ends at once, without a retry. `Stream.run` then fails with
 *   the cause of the stream.
 * - If the upload fails, or the program is interrupted, the stream is not read any further.
 * - After a failure of the stream or of the upload, and after an interruption, a request terminates the incomplete
 *   upload, unless `onFailure` is `keep`. No later run could read the bytes of the stream again. The sink waits for
 *   this request: at most five seconds after a failure, and at most one second after an interruption. If the request
 *   fails, the upload stays on the server until it expires. An interruption while the server still creates the upload
 *   can leave an upload on the server until this upload expires.
 * - The stream runs with the services of the caller, not within the span and the scope of the upload.
 *
 * **Gotchas**
 *
 * A byte array must not change after the stream has emitted it, because the array may be sent later, or again.
 *
 * @example
 * Stream.run(request.stream, Upload.sink(target, { metadata: { filename: "a.zip", fieldname: "file" } }))
 *
 * @since 0.1.0
 * @category running
 */
export const sink = (
  target: UploadTarget,
  { onFailure = "terminate", size, ...options }: SinkOptions
): Sink.Sink<UploadResult, Uint8Array, never, UploadError, HttpClient.HttpClient> =>
  Sink.fromTransform((upstream: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, never, void>) =>
    Effect.contextWith((context: Context.Context<HttpClient.HttpClient>) => {
      let failure: Cause.Cause<never> | undefined
      const pull = Effect.catchCause(
        Effect.updateContext(upstream, (_own: Context.Context<never>) => context),
        (cause): Pull.Pull<never, SourceFailed, void> => {
          if (Pull.isDoneCause(cause)) return Effect.failCause(cause)
          // The upload gets a typed error, so that its metrics and spans do not report a defect. The sink itself fails
          // with the original `failure`.
          failure = cause as Cause.Cause<never>
          return Effect.fail(new SourceFailed({ kind: "Unreadable", description: "the stream failed" }))
        }
      )
      const source: UploadSource = { _tag: "OneShot", size, stream: Stream.fromPull(Effect.succeed(pull)) }
      return Events.toResult((emit) =>
        observed(target, source, options, emit, onFailure === "keep" ? identity : Removal.unlessDone)
      ).pipe(
        Effect.catchCause((cause) => Effect.failCause(failure ?? cause)),
        Effect.map((result) => [result] as const)
      )
    })
  )
