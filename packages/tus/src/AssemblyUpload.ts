/**
 * Runs whole jobs: a job creates an Assembly, uploads its files in parallel, waits for the results and verifies them.
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as AssemblyUploadEvent from "./AssemblyUploadEvent.ts"
import * as AssemblyFiles from "./internal/assemblyFiles.ts"
import type * as AssemblyJob from "./internal/assemblyJob.ts"
import * as Events from "./internal/events.ts"
import type { Options, Outcome } from "./internal/job.ts"
import type { AssemblyUploadError } from "./internal/jobError.ts"
import type { UploadJournal } from "./internal/journal.ts"
import * as Packing from "./internal/packing.ts"
import * as Packs from "./internal/packs.ts"
import * as PreparedJob from "./internal/preparedJob.ts"
import type { UploadSource } from "./internal/source.ts"

export type { Delivered, File, Options, Outcome, Proof, Verify } from "./internal/job.ts"
export { AssemblyUploadError, DeliveryMismatch, FileOutcome, FilesFailed, FormBroken } from "./internal/jobError.ts"

/**
 * The service of this module. A program provides {@link layer} or {@link layerJournaled}, which `AssemblyNode` has, and
 * its tests provide {@link layerTest}.
 *
 * @since 0.1.0
 * @category services
 */
export class AssemblyUpload extends Context.Service<AssemblyUpload, AssemblyJob.Service>()(
  "@assembly-effect/tus/AssemblyUpload"
) {}

/** Runs one job. */
const start = Effect.fnUntraced(function* <R>(options: Options<R>, emit: AssemblyFiles.Emit) {
  const service = yield* AssemblyUpload
  return yield* (yield* service.prepare(options)).run(emit)
})

const silent: AssemblyFiles.Emit = () => undefined

/**
 * Creates an Assembly, uploads its files, waits until the Assembly has completed, and emits events. With a journal,
 * interrupting the stream keeps the Assembly and the uploaded bytes; if the request that creates an upload has been
 * sent, the interruption waits at most 2 seconds for the response.
 *
 * @example
 * AssemblyUpload.events({ params, files }).pipe(Stream.runForEach((event) => Console.log(event._tag)))
 *
 * @since 0.1.0
 * @category running
 */
export const events = <R = never>(
  options: Options<R>
): Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError, AssemblyUpload | R> =>
  Events.fromProgram((emit: AssemblyFiles.Emit) => start(options, emit))

/**
 * Creates an Assembly, uploads its files, waits until the Assembly has completed, and returns the Status. If `wait` is
 * false, `run` returns the Status from the creation of the Assembly.
 *
 * **When to use**
 *
 * Use `AssemblyUpload` to upload files and get the results in one call. Use `Upload` to add one file to an existing
 * Assembly. Use {@link layerJournaled} if the process may end during the job: the next run with the same options
 * continues the job.
 *
 * **Details**
 *
 * Every option and every source is checked before the Assembly is created. If a file fails permanently, the job fails
 * with `FilesFailed`, which contains the error of each failed file, and by default the Assembly is canceled (see
 * `onFailure`). If the server refuses a file because the Assembly has failed, or was canceled or aborted, the job fails
 * with the error of the Assembly instead.
 *
 * With a journal, two runs belong to the same job if they have the same service, `params`, and files (names, metadata,
 * size, and the `identity` of the source). The journal stores the Assembly and the upload of each file. The next run
 * requests the Status of the Assembly from the service:
 *
 * - If the Assembly still accepts files, stored files are not sent again. Begun uploads continue at the offset that the
 *   server reports, and the other uploads start.
 * - If the Assembly is executing, the run waits until the Assembly has ended, unless `wait` is false.
 * - If the Assembly has completed, the run returns the Status. After the entry of the journal has expired, a run starts
 *   a new job.
 * - If the Assembly failed, or was canceled or aborted, the run fails with the error of the Assembly, and the following
 *   run creates a new Assembly. After a `DeliveryMismatch` (`verify`), the following run creates a new Assembly too.
 * - If files fail only because the response to their creation or concatenation was lost, and no receipt shows the
 *   result, the run cancels the Assembly. Unless the Assembly has completed by then, the run creates a new Assembly and
 *   uploads the files again, because the Assembly could otherwise get a file twice. If the Assembly cannot be canceled,
 *   the run fails.
 * - If the service no longer has the Assembly, the run fails, and the following run creates a new Assembly.
 * - If a file fails permanently, the run does not cancel the Assembly, and fails with `FilesFailed`.
 *
 * With an `assemblyId` in `params`, the service does not create the Assembly again. So each later run that would create
 * a new Assembly fails.
 *
 * One process at a time holds the lease of a job. A second process emits `Waiting`. It waits until the lease is
 * released, at most until the time when the lease would expire (10 seconds after its last renewal by default), and
 * never longer than a minute. Then the second process continues the job. If the first process still holds the lease,
 * the second process fails with `UploadLeased`.
 *
 * **Gotchas**
 *
 * An attacker who can write to the journal can change an entry, so that the next run uploads to another Assembly of the
 * same service. Only the user of the program may have write access to the journal.
 *
 * @example
 * AssemblyUpload.run({
 *   params: { steps: { ":original": { robot: "/upload/handle" } } },
 *   files: [{ source: UploadSource.fromPath("cat.jpg"), filename: "cat.jpg" }]
 * })
 *
 * @since 0.1.0
 * @category running
 */
export const run = <R = never>(
  options: Options<R>
): Effect.Effect<Assembly.Status, AssemblyUploadError, AssemblyUpload | R> => start(options, silent)

/**
 * A job of {@link runAll}. The outcome of a job contains the whole job.
 *
 * - `data`: any data of the program, such as the id of a row in a database. A job has no fields except `data` and those
 *   of {@link Options}, so that a misspelt option does not compile.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job<R = never> extends Options<R> {
  readonly data?: unknown
}

/**
 * `J`, with the type `never` for each field that a {@link Job} does not have.
 *
 * @since 0.1.0
 * @category models
 */
export type Exact<J> = J & { readonly [Field in Exclude<keyof J, keyof Job>]: never }

/**
 * - `assemblies`: the maximum number of jobs that run at the same time, 8 by default.
 * - `uploads`: the maximum number of uploads of all jobs at the same time, 8 by default. The `concurrency` of a job
 *   limits its own uploads further.
 * - `ordered`: whether the outcomes have the order of the jobs. By default, an outcome is emitted when its job ends.
 * - `packing`: whether jobs with equal params and options share an Assembly, which is a *pack*; not by default. A pack has
 *   at most `files` files (100 by default) and `bytes` bytes (64 MiB), and begins at the latest when its first job has
 *   waited for `within` (2 seconds). An Assembly fails as a whole, so a pack that fails is divided until the job that
 *   fails is alone, and after failures later packs are smaller. The Steps may run more than once for a file, so
 *   `repeatable: true` is required.
 *
 * @since 0.1.0
 * @category options
 */
export type AllOptions = Schema.Codec.Encoded<typeof All>

const All = Schema.Struct({
  assemblies: Schema.optional(Rules.whole(1)),
  uploads: Schema.optional(Rules.whole(1)),
  ordered: Schema.optional(Schema.Boolean),
  packing: Schema.optionalKey(Packing.Options)
})

const decodeAll = Rules.decoder("AssemblyUpload.runAll", All)

const atOnce = 8

/** The outcome of a job with an Assembly of its own. An interruption of the whole stream has no outcome. */
const outcomeOf = <J extends Job<RS>, RS>(service: AssemblyJob.Service, job: J): Effect.Effect<Outcome<J>, never, RS> =>
  Effect.suspend(() => {
    const earlier: Array<Assembly.AssemblyId> = []
    const told = { job, earlier }
    const emit: AssemblyFiles.Emit = (event) => {
      if (event._tag === "Resent") earlier.push(event.assemblyId)
    }
    return Effect.gen(function* (): Effect.fn.Return<Outcome<J>, AssemblyUploadError, RS> {
      const prepared = yield* service.prepare<RS>({ ...job, cancelOnInterrupt: true })
      const done = yield* prepared.done
      if (done === undefined) return { ...told, _tag: "Completed", status: yield* prepared.run(emit) }
      earlier.push(...(done.earlier ?? []))
      return { ...told, _tag: "Skipped", assemblyId: done.assemblyId }
    }).pipe(
      Effect.catch((error) => Effect.succeed({ ...told, _tag: "Failed" as const, error })),
      Effect.catchCause((cause) => Effect.succeed({ ...told, _tag: "Died" as const, cause }))
    )
  })

/**
 * Runs every job of a stream, and emits the outcome of each job: one outcome for each job.
 *
 * **When to use**
 *
 * Use `runAll` for many jobs, such as the files of a folder or the rows of a table, of any number.
 *
 * **Details**
 *
 * If a job fails or ends with a defect, the stream emits its outcome (`Failed` or `Died`), and the other jobs continue.
 * The stream of outcomes fails only if the stream of jobs fails, or with `InvalidRequest` if `options` is invalid.
 *
 * A job is active until its outcome is read. The next job starts when fewer than `assemblies` jobs are active. So
 * memory is needed only for the active jobs, and for the rest of the chunk of jobs that the stream has emitted (up to
 * 4096 jobs with `Stream.fromIterable`).
 *
 * The jobs wait for the `Budget` of the account, if the program has one: at most 250 Assemblies of the public service are
 * created in a minute, and 250 run at once.
 *
 * An interruption of the stream, or a failure of the stream of jobs, ends the running jobs, and their outcomes are not
 * emitted. Without a journal, their Assemblies are canceled. With a journal, their Assemblies are kept for the next run.
 *
 * With a journal, a completed job is skipped without a request, until its entry expires, by default 60 days after a run
 * has recorded its completion (`completedExpiry`). A skip does not verify the job again, and does not postpone the
 * expiry of its entry. A failed job is run again. With `wait: false`, the run that uploads the files does not record
 * that the job has completed. The next run requests the Status of the Assembly, and sends no stored file again. If this
 * Status shows that the Assembly has completed, the following runs skip the job.
 *
 * @example
 * Stream.fromIterable(paths).pipe(
 *   Stream.map((path) => ({
 *     data: path,
 *     params: { templateId: "thumbnails" },
 *     files: [{ source: UploadSource.fromPath(path), filename: "photo.jpg" }]
 *   })),
 *   AssemblyUpload.runAll({ assemblies: 16 }),
 *   Stream.runForEach((outcome) => Console.log(outcome.job.data, outcome._tag))
 * )
 *
 * @since 0.1.0
 * @category running
 */
export const runAll: {
  <J, E, R, RS = never>(
    jobs: Stream.Stream<Exact<J> & Job<RS>, E, R>,
    options?: AllOptions
  ): Stream.Stream<Outcome<J>, E | InvalidRequest, R | RS | AssemblyUpload>
  // The compiler explains why the last signature does not fit.
  (
    options?: AllOptions
  ): <J, E, R, RS = never>(
    jobs: Stream.Stream<Exact<J> & Job<RS>, E, R>
  ) => Stream.Stream<Outcome<J>, E | InvalidRequest, R | RS | AssemblyUpload>
} = dual(
  ([first]) => Stream.isStream(first),
  <J extends Job<RS>, E, R, RS = never>(
    jobs: Stream.Stream<J, E, R>,
    options: AllOptions = {}
  ): Stream.Stream<Outcome<J>, E | InvalidRequest, R | RS | AssemblyUpload> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { assemblies = atOnce, ordered = false, packing, uploads } = yield* decodeAll(options)
        const service = yield* AssemblyUpload
        const permits = yield* Semaphore.make(uploads ?? (packing === undefined ? atOnce : Packing.uploadsAtOnce))
        const alone = (job: J) => outcomeOf<J, RS>(service, job)
        const runOne = packing === undefined ? alone : yield* Packs.make<J, RS>({ service, packing, assemblies, alone })
        const failure = yield* Deferred.make<never, E>()
        return jobs.pipe(
          Stream.onError((cause) => Deferred.failCause(failure, cause)),
          Stream.mapEffect((job) => Effect.provideService(runOne(job), AssemblyFiles.Permits, permits), {
            concurrency: packing === undefined ? assemblies : assemblies * Packing.limitsOf(packing).files,
            unordered: !ordered
          }),
          // `mapEffect` alone would wait until the running jobs end.
          Stream.interruptWhen(Deferred.await(failure))
        )
      })
    )
)

/**
 * Runs jobs over HTTP, without a journal: a later run cannot continue a job.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<AssemblyUpload, never, HttpClient.HttpClient | AssemblyClient> = Layer.fresh(
  Layer.effect(AssemblyUpload, PreparedJob.overHttp)
)

/**
 * Runs jobs over HTTP, and stores each job in the journal, so that a later run continues it.
 *
 * @example
 * AssemblyUpload.layerJournaled.pipe(Layer.provide(UploadJournal.layerFileSystem("/var/lib/my-app/uploads")))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerJournaled: Layer.Layer<
  AssemblyUpload,
  never,
  HttpClient.HttpClient | AssemblyClient | UploadJournal
> = Layer.fresh(Layer.effect(AssemblyUpload, PreparedJob.journaled))

/**
 * The events of a successful job. Every source is read to its end, and the Assembly completes with `results`.
 *
 * @example
 * AssemblyUpload.layerTest((sources) =>
 *   AssemblyUpload.succeeded(sources, { thumbs: [{ ssl_url: "https://cdn.example.com/cat.jpg" }] })
 * )
 *
 * @since 0.1.0
 * @category testing
 */
export const succeeded = (
  sources: ReadonlyArray<UploadSource>,
  results: Readonly<Record<string, ReadonlyArray<Assembly.File>>> = {}
): Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const assemblyId = Assembly.AssemblyId.make("0".repeat(32))
      const lengths = yield* Effect.forEach(sources, Events.read)
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
 * Sends nothing: emits the events that `answer` returns for the sources of a job, by default those of {@link succeeded}.
 * The options, except `params`, are checked and the sources are opened as in {@link layer}, so that an invalid option
 * fails in a test too. `verify` does not run. `Stream.fail` is a failed job.
 *
 * @example
 * publish("cat.jpg").pipe(
 *   Effect.provide(
 *     AssemblyUpload.layerTest(() =>
 *       Stream.fail(new ApiError.AssemblyFailed({ assemblyId: "", code: "INVALID_FILE", description: "not an image" }))
 *     )
 *   )
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (
  answer: (
    sources: ReadonlyArray<UploadSource>,
    options: Options<unknown>
  ) => Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, AssemblyUploadError> = (sources) => succeeded(sources)
): Layer.Layer<AssemblyUpload> => {
  const send: AssemblyJob.Send = (options, sources, emit) =>
    AssemblyUploadEvent.result(Events.emitting(answer(sources, options), emit))
  return Layer.succeed(AssemblyUpload, PreparedJob.inMemory(send))
}
