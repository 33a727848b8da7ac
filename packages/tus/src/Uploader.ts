/**
 * `events` and `run` of `Upload` and `AssemblyUpload` as a service, so that tests of an application need no HTTP.
 */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as AssemblyUpload from "./AssemblyUpload.ts"
import type { AssemblyUploadError } from "./AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "./AssemblyUploadEvent.ts"
import * as AssemblyOptions from "./internal/assemblyOptions.ts"
import * as OptionRules from "./internal/options.ts"
import * as Upload from "./Upload.ts"
import type { UploadError } from "./UploadError.ts"
import * as UploadEvent from "./UploadEvent.ts"
import type { UploadSource } from "./UploadSource.ts"
import * as UploadTarget from "./UploadTarget.ts"

/**
 * - `events`: uploads one source, see `Upload.events`.
 * - `assemblyEvents`: creates an Assembly and uploads its files, see `AssemblyUpload.events`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly events: (
    target: UploadTarget.UploadTarget,
    source: UploadSource,
    options: Upload.Options
  ) => Stream.Stream<UploadEvent.UploadEvent, UploadError>
  readonly assemblyEvents: <R = never>(
    options: AssemblyUpload.Options<R>
  ) => Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError, R>
}

/**
 * The upload service for applications that are tested without HTTP.
 *
 * **When to use**
 *
 * Use `Uploader` if tests of your own logic should not upload. Call the functions of this module instead of those of
 * `Upload` and `AssemblyUpload`. Provide {@link layer} in the program, and {@link layerTest} in its tests.
 *
 * @example
 * const publish = (path: string) =>
 *   Uploader.runAssembly({
 *     params: { templateId: "thumbnails" },
 *     files: [{ source: UploadSource.fromPath(path), filename: "cat.jpg" }]
 *   })
 *
 * @since 0.1.0
 * @category services
 */
export class Uploader extends Context.Service<Uploader, Service>()("@assembly-effect/tus/Uploader") {}

/**
 * Uploads a source and emits events. See `Upload.events`.
 *
 * @since 0.1.0
 * @category running
 */
export const events = (
  target: UploadTarget.UploadTarget,
  source: UploadSource,
  options: Upload.Options
): Stream.Stream<UploadEvent.UploadEvent, UploadError, Uploader> =>
  Stream.unwrap(Effect.map(Uploader, (uploader) => uploader.events(target, source, options)))

/**
 * Uploads a source and returns when all bytes are stored. See `Upload.run`.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  target: UploadTarget.UploadTarget,
  source: UploadSource,
  options: Upload.Options
): Effect.Effect<UploadEvent.UploadResult, UploadError, Uploader> => UploadEvent.result(events(target, source, options))

/**
 * Creates an Assembly, uploads its files and emits events. See `AssemblyUpload.events`.
 *
 * @since 0.1.0
 * @category running
 */
export const assemblyEvents = <R = never>(
  options: AssemblyUpload.Options<R>
): Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError, Uploader | R> =>
  Stream.unwrap(Effect.map(Uploader, (uploader) => uploader.assemblyEvents(options)))

/**
 * Creates an Assembly, uploads its files and returns its Status. See `AssemblyUpload.run`.
 *
 * @since 0.1.0
 * @category running
 */
export const runAssembly = <R = never>(
  options: AssemblyUpload.Options<R>
): Effect.Effect<Assembly.Status, AssemblyUploadError, Uploader | R> =>
  AssemblyUploadEvent.result(assemblyEvents(options))

/**
 * Provides an `Uploader` that uploads over HTTP.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Uploader, never, HttpClient.HttpClient | AssemblyClient> = Layer.effect(
  Uploader,
  Effect.gen(function* () {
    // Only these services are taken from the Layer's context, because a span around the Layer must not become the
    // parent of an upload.
    const services = Context.make(HttpClient.HttpClient, yield* HttpClient.HttpClient).pipe(
      Context.add(AssemblyClient, yield* AssemblyClient)
    )
    return Uploader.of({
      events: (target, source, options) => Stream.provide(Upload.events(target, source, options), services),
      assemblyEvents: (options) => Stream.provide(AssemblyUpload.events(options), services)
    })
  })
)

/** Reads a source to its end, and returns the number of its bytes. */
const read = (source: UploadSource) =>
  Stream.runFold(
    source._tag === "Replayable" ? source.bytes(0n, source.size) : source.stream,
    () => 0n,
    (sum, piece) => sum + BigInt(piece.length)
  )

/**
 * The events of a successful upload. The source is read to its end, and its bytes are discarded.
 *
 * @example Uploader.layerTest({ events: ({ source, target }) => Uploader.uploaded(target, source) })
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
      const length = yield* read(source)
      return Stream.make<ReadonlyArray<UploadEvent.UploadEvent>>(
        UploadEvent.Created({ url, length }),
        UploadEvent.Progress({ sent: length, acknowledged: length, total: length }),
        UploadEvent.Completed({ url, length })
      )
    })
  )

/**
 * The events of a successful job of `AssemblyUpload`. Every source is read to its end, and the Assembly completes with
 * `results`.
 *
 * @example
 * Uploader.layerTest({
 *   assemblyEvents: (files) => Uploader.completed(files, { thumbs: [{ ssl_url: "https://cdn.example.com/cat.jpg" }] })
 * })
 *
 * @since 0.1.0
 * @category testing
 */
export const completed = (
  sources: ReadonlyArray<UploadSource>,
  results: Readonly<Record<string, ReadonlyArray<Assembly.File>>> = {}
): Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const assemblyId = Assembly.AssemblyId.make("0".repeat(32))
      const lengths = yield* Effect.forEach(sources, read)
      const total = lengths.reduce((sum, length) => sum + length, 0n)
      return Stream.fromArray<AssemblyUploadEvent.AssemblyUploadEvent>([
        AssemblyUploadEvent.AssemblyCreated({ status: { ok: "ASSEMBLY_UPLOADING", assembly_id: assemblyId } }),
        AssemblyUploadEvent.Progress({ sent: total, acknowledged: total, total }),
        ...lengths.map((length, file) => AssemblyUploadEvent.FileCompleted({ file, length })),
        AssemblyUploadEvent.Uploaded({ assemblyId }),
        AssemblyUploadEvent.Completed({ status: { ok: "ASSEMBLY_COMPLETED", assembly_id: assemblyId, results } })
      ])
    })
  )

/**
 * The responses of a test layer. A response is a Stream of events: {@link uploaded} and {@link completed} make the
 * usual Streams, and `Stream.fail` makes a Stream that fails.
 *
 * - `events`: returns the events of one upload. By default the upload succeeds.
 * - `assemblyEvents`: returns the events of a job of `AssemblyUpload`. `sources` are the sources of its files, in the
 *   order of the files. By default the job succeeds without results.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answers {
  readonly events?:
    | ((upload: {
        readonly target: UploadTarget.UploadTarget
        readonly source: UploadSource
        readonly options: Upload.Options
      }) => Stream.Stream<UploadEvent.UploadEvent, UploadError>)
    | undefined
  readonly assemblyEvents?:
    | ((
        sources: ReadonlyArray<UploadSource>,
        options: AssemblyUpload.Job<AssemblyUpload.File<unknown>>
      ) => Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError>)
    | undefined
}

/**
 * An `Uploader` that emits the events of `answers` and sends nothing. The options, except `params`, are checked and the
 * sources are opened as in {@link layer}, so that an invalid option fails in a test too.
 *
 * @example
 * publish("cat.jpg").pipe(
 *   Effect.provide(
 *     Uploader.layerTest({
 *       assemblyEvents: () =>
 *         Stream.fail(new ApiError.AssemblyFailed({ assemblyId: "", code: "INVALID_FILE", description: "not an image" }))
 *     })
 *   )
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (answers: Answers = {}): Layer.Layer<Uploader> =>
  Layer.succeed(
    Uploader,
    Uploader.of({
      events: (target, source, options) =>
        OptionRules.check({ ...options, source }).pipe(
          Effect.as(answers.events?.({ target, source, options }) ?? uploaded(target, source)),
          Stream.unwrap
        ),
      assemblyEvents: (options) =>
        AssemblyOptions.prepare(options, { isReplayed: false }).pipe(
          Effect.map((sources) => answers.assemblyEvents?.(sources, options) ?? completed(sources)),
          Stream.unwrap
        )
    })
  )
