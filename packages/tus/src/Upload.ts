/**
 * Uploads one source to one target: creates the upload, sends the bytes, and after a failure continues at the offset
 * that the server reports. With a journal, a later run continues the upload too.
 */
import type * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Pull from "effect/Pull"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as Engine from "./internal/engine.ts"
import * as Events from "./internal/events.ts"
import { UploadJournal } from "./internal/journal.ts"
import { NoSuchUpload } from "./internal/journalError.ts"
import * as OptionRules from "./internal/options.ts"
import type { Given, Options, ResumeOptions } from "./internal/options.ts"
import { type SourceFailed, sourceFailed, type UploadSource } from "./internal/source.ts"
import type { UploadError } from "./TusError.ts"
import * as UploadEvent from "./UploadEvent.ts"
import * as UploadTarget from "./UploadTarget.ts"

export { layerBandwidth } from "./internal/bandwidth.ts"
export { CanStream } from "./internal/context.ts"
export type { Given, Metadata, Options, RequestOptions, ResumeOptions, SharedOptions } from "./internal/options.ts"

/**
 * The options of {@link sink}: {@link RequestOptions}, `metadata`, and:
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
export interface SinkOptions extends OptionRules.RequestOptions {
  readonly metadata: OptionRules.Metadata
  readonly size?: bigint | undefined
  readonly onFailure?: "terminate" | "keep" | undefined
}

/**
 * An existing upload.
 *
 * - With `url`: an upload whose URL the program has stored. `metadata` is the metadata of its creation.
 * - With `key`: an upload of the journal; `UploadJournal.list` lists the keys. `origins` are further permitted origins
 *   of upload URLs, or patterns of origins; see `AssemblyClient.Options`.
 */
type Existing =
  | {
      readonly target: UploadTarget.UploadTarget
      readonly url: UploadTarget.UploadUrl
      readonly metadata: OptionRules.Metadata
    }
  | { readonly key: string; readonly origins?: ReadonlyArray<string> | undefined }

/**
 * - `run`: uploads a source. For {@link sink}, `onFailure` is set, and the upload has no journal.
 * - `resume`: continues an existing upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly run: (
    given: Given,
    onFailure?: SinkOptions["onFailure"]
  ) => Effect.Effect<UploadEvent.UploadResult, UploadError>
  readonly resume: (
    existing: Existing,
    given: Omit<Given<ResumeOptions>, "target">
  ) => Effect.Effect<UploadEvent.UploadResult, UploadError | NoSuchUpload>
}

/**
 * The service of this module. A program provides {@link layer} or {@link layerJournaled}, which `AssemblyNode` has, and
 * its tests provide {@link layerTest}.
 *
 * @since 0.1.0
 * @category services
 */
export class Upload extends Context.Service<Upload, Service>()("@assembly-effect/tus/Upload") {}

const silent = () => undefined

/**
 * Uploads a source and emits events. The upload does not wait for the reader of its events. Interrupting the stream
 * ends the request, and the upload stays on the server. With `parallel` and without a journal, a failure or an
 * interruption removes the parts from the server, unless the server may already have concatenated them. With a journal,
 * an interruption during the request that creates the upload waits at most 2 seconds for the response.
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
  target: UploadTarget.UploadTarget,
  source: UploadSource,
  options: Options
): Stream.Stream<UploadEvent.UploadEvent, UploadError, Upload> =>
  Events.fromProgram((emit) => Upload.use((upload) => upload.run({ target, source, options, emit })))

/**
 * Uploads a source and returns when all bytes are stored.
 *
 * **Details**
 *
 * With a journal ({@link layerJournaled}), the run continues an upload of the same bytes, with the same `filename` and
 * `fieldname`, for the same Assembly. Two sources count as the same bytes if they have the same `identity` and size. The
 * identity of `UploadSource.fromPath` is the path, size and modification time of the file. If a source has no
 * `identity`, a digest of its content is used (`UploadSource.identifiedByContent`). For a complete upload, the result
 * comes from the journal without a request, until the entry expires. If a run fails with `UploadGone`, the entry is
 * removed, and the next run starts a new upload. A one-shot stream is refused.
 *
 * The upload continues with the metadata of its creation. Changed values of `metadata` other than `filename` and
 * `fieldname`, such as a time stamp, do not start a new upload. The origins of `target`, not the journal, decide where
 * the bytes may be sent.
 *
 * One process at a time holds the lease of an upload. A second process emits `Waiting`. It waits until the lease is
 * released, at most until the time when the lease would expire (10 seconds after its last renewal by default), and
 * never longer than a minute. Then the second process continues the upload, or returns the result of the first process.
 * If the first process still holds the lease, the second process fails with `UploadLeased`.
 *
 * @example Upload.run(target, UploadSource.fromBytes(bytes), { metadata: { filename: "a.txt", fieldname: "file" } })
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  target: UploadTarget.UploadTarget,
  source: UploadSource,
  options: Options
): Effect.Effect<UploadEvent.UploadResult, UploadError, Upload> =>
  Upload.use((upload) => upload.run({ target, source, options, emit: silent }))

/**
 * Continues an existing upload, and returns when all bytes are stored.
 *
 * **When to use**
 *
 * Use `resume` if your program stores the upload URL itself, or to continue the uploads in the list of a journal. Encode
 * the `url` of the event `Created` with `UploadTarget.urlAtRest`, and store the text as a secret. Decode the text in the
 * next run; decoding checks the URL again.
 *
 * **Details**
 *
 * The offset is requested from the server, and only the remaining bytes are sent. If the server reports another length
 * than the size of the source, or other metadata, the call fails with `UploadMismatch`. A one-shot stream must start
 * with the first byte of the upload. If the upload is incomplete, and the server has stored more bytes than the upload
 * holds of a one-shot stream in memory (`chunkSize` bytes and at most one chunk of the stream), the call fails with
 * `SourceFailed`.
 *
 * The journal does not decide where bytes are sent. If the Layer has an `AssemblyClient`, its origins are permitted.
 * Otherwise, the origin of the Assembly is permitted: the URL of the Assembly is part of the key, so an edited entry
 * cannot change this origin. If the Assembly is on a host of the public service, all cells (hosts) of the public
 * service are permitted. For `localhost`, `127.0.0.1` and `[::1]` are permitted too. If a URL of the entry has any
 * other origin, which `origins` does not permit either, the call fails with `InvalidTarget` or `UnsafeLocation`. If the
 * entry does not match its key, the call fails with `JournalTorn`. In both cases nothing is sent. Without a journal, or
 * if the journal has no such entry, the call fails with `NoSuchUpload`.
 *
 * **Gotchas**
 *
 * An attacker who can write to the journal can add an entry, with a matching key, for an upload to another Assembly.
 * If you resume every key of `list`, provide the `AssemblyClient`: entries for other origins are then refused. An entry
 * for another Assembly of the same service is still accepted, so only the user of the program may have write access to
 * the journal.
 *
 * @example
 * Effect.gen(function* () {
 *   const url = yield* Schema.decodeEffect(UploadTarget.urlAtRest(target))(stored)
 *   return yield* Upload.resume({ target, url, metadata: { filename: "cat.jpg", fieldname: "file" } }, source)
 * })
 *
 * @since 0.1.0
 * @category running
 */
export const resume = (
  existing: Existing,
  source: UploadSource,
  options: ResumeOptions = {}
): Effect.Effect<UploadEvent.UploadResult, UploadError | NoSuchUpload, Upload> =>
  Upload.use((upload) => upload.resume(existing, { source, options, emit: silent }))

/**
 * Runs the same upload as {@link resume}, and emits its events.
 *
 * @since 0.1.0
 * @category running
 */
export const resumeEvents = (
  existing: Existing,
  source: UploadSource,
  options: ResumeOptions = {}
): Stream.Stream<UploadEvent.UploadEvent, UploadError | NoSuchUpload, Upload> =>
  Events.fromProgram((emit) => Upload.use((upload) => upload.resume(existing, { source, options, emit })))

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
 * - The stream is uploaded as a one-shot source, without a journal. At most `chunkSize` bytes (8 MiB by default) and one
 *   chunk of the stream are held in memory; with `checksum`, or without streaming (see `CanStream`), also a copy of the
 *   bytes of one request. More of the stream is read only after the server has acknowledged bytes that are held. The
 *   upload recovers from temporary failures of the network and of the server.
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
  target: UploadTarget.UploadTarget,
  options: SinkOptions
): Sink.Sink<UploadEvent.UploadResult, Uint8Array, never, UploadError, Upload> =>
  Sink.fromTransform((upstream: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, never, void>) =>
    Effect.contextWith((context: Context.Context<Upload>) => {
      const { onFailure = "terminate", size } = options
      let failure: Cause.Cause<never> | undefined
      const pull = Effect.catchCause(
        Effect.updateContext(upstream, (_own: Context.Context<never>) => context),
        (cause): Pull.Pull<never, SourceFailed, void> => {
          if (Pull.isDoneCause(cause)) return Effect.failCause(cause)
          // The upload gets a typed error, so that its metrics and spans do not report a defect. The sink itself fails
          // with the original `failure`.
          failure = cause as Cause.Cause<never>
          return Effect.fail(sourceFailed("Unreadable", "the stream failed"))
        }
      )
      const source: UploadSource = { _tag: "OneShot", size, stream: Stream.fromPull(Effect.succeed(pull)) }
      return Context.get(context, Upload)
        .run({ target, source, options, emit: silent }, onFailure)
        .pipe(
          Effect.catchCause((cause) => Effect.failCause(failure ?? cause)),
          Effect.map((result) => [result] as const)
        )
    })
  )

/** The upload at a URL that the program has stored. The marker of its creation is unknown. */
const atUrl = (
  { metadata, target }: Extract<Existing, { readonly url: unknown }>,
  given: Omit<Given<ResumeOptions>, "target">
): Given => ({ ...given, target, options: { ...given.options, metadata } })

const noJournal = (key: string) => Effect.fail(new NoSuchUpload({ key }))

const make = (http: HttpClient.HttpClient, journal?: UploadJournal["Service"]): Service => {
  const provided = Effect.provideService(HttpClient.HttpClient, http)
  return {
    run: (given, onFailure) =>
      provided(
        journal === undefined || onFailure !== undefined
          ? Engine.run(given, { isTerminated: onFailure === "terminate" })
          : journal.engine(journal).run(given)
      ),
    resume: (existing, given) => {
      if ("url" in existing) {
        const created = { _tag: "Created", marker: "", url: existing.url } as const
        return provided(Engine.run(atUrl(existing, given), { existing: created }))
      }
      return journal === undefined ? noJournal(existing.key) : provided(journal.engine(journal).resume(existing, given))
    }
  }
}

const layerOf = <E, R>(service: Effect.Effect<Service, E, R>) => Layer.fresh(Layer.effect(Upload, service))

/**
 * Uploads over HTTP, without a journal: a later run cannot continue an upload.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Upload, never, HttpClient.HttpClient> = layerOf(
  Effect.map(HttpClient.HttpClient, (http) => make(http))
)

/**
 * Uploads over HTTP, and stores each upload in the journal, so that a later run continues it.
 *
 * @example
 * Upload.layerJournaled.pipe(Layer.provide(UploadJournal.layerFileSystem("/var/lib/my-app/uploads")))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerJournaled: Layer.Layer<Upload, never, HttpClient.HttpClient | UploadJournal> = layerOf(
  Effect.map(Effect.all([HttpClient.HttpClient, UploadJournal]), ([http, journal]) => make(http, journal))
)

/**
 * The events of a successful upload. The source is read to its end, and its bytes are discarded.
 *
 * @example Upload.layerTest(({ source, target }) => Upload.uploaded(target, source))
 *
 * @since 0.1.0
 * @category testing
 */
export const uploaded = (
  target: UploadTarget.UploadTarget,
  source: UploadSource
): Stream.Stream<UploadEvent.UploadEvent, UploadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const url = yield* Effect.fromResult(UploadTarget.resolve(target, "/resumable/files/test"))
      const length = yield* Events.read(source)
      return Stream.make<ReadonlyArray<UploadEvent.UploadEvent>>(
        UploadEvent.Created({ url, length }),
        UploadEvent.Progress({ sent: length, acknowledged: length, total: length }),
        UploadEvent.Completed({ url, length })
      )
    })
  )

/**
 * Sends nothing: emits the events that `answer` returns for an upload, by default those of {@link uploaded}. The options
 * and the source are checked as in {@link layer}. `Stream.fail` is a failed upload. The journal is empty.
 *
 * @example
 * const failing = Upload.layerTest(() =>
 *   Stream.fail(new UploadSource.SourceFailed({ kind: "Unreadable", description: "a broken disk" }))
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (
  answer: (upload: Omit<Given, "emit">) => Stream.Stream<UploadEvent.UploadEvent, UploadError> = (upload) =>
    uploaded(upload.target, upload.source)
): Layer.Layer<Upload> => {
  const answered = ({ emit, ...upload }: Given) =>
    Effect.andThen(
      OptionRules.check(upload.source, upload.options, false),
      UploadEvent.result(Events.emitting(answer(upload), emit))
    )
  return Layer.succeed(Upload, {
    run: answered,
    resume: (existing, given) => ("key" in existing ? noJournal(existing.key) : answered(atUrl(existing, given)))
  })
}
