/**
 * Uploads that survive crashes of processes and machines. A job is stored before anything is sent, and a runner
 * continues the job after any crash: `DurableSqlite` runs jobs in one process, `DurablePostgres` on any number of
 * machines.
 *
 * @since 0.1.0
 */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { Context, Effect, type Result, Stream } from "effect"
import type * as DurableError from "./DurableError.ts"
import type { Count, Filter, Job, Status, Summary } from "./DurableJob.ts"
import type * as Callers from "./internal/callers.ts"

export type { Options } from "./internal/host.ts"
export type {
  AllOptions,
  AwaitError,
  Changes,
  ListError,
  RetryError,
  StartError,
  StartOutcome
} from "./internal/callers.ts"

/**
 * The service behind the functions of this module.
 *
 * @since 0.1.0
 * @category services
 */
export class Durable extends Context.Service<Durable, Callers.Service>()("@assembly-effect/workflow/Durable") {}

/**
 * Stores a job, and returns when it is stored. A runner uploads the files of the job and waits for the Assembly of the
 * job. The key identifies the job, so a second call with the same key stores nothing.
 *
 * **Details**
 *
 * The job is checked and its sources are opened before it is stored. The sizes and identities of the sources are stored
 * with the job. If a source has changed when its upload starts or continues, the job fails with `SourceFailed`.
 *
 * @example
 * Durable.start({
 *   key: "video-42",
 *   params: { templateId: "thumbnails" },
 *   files: [{ source: DurableJob.path("/mnt/videos/42.mp4"), filename: "42.mp4" }]
 * })
 *
 * @since 0.1.0
 * @category running
 */
export const start = (job: Job): Effect.Effect<Summary, Callers.StartError, Durable> =>
  Durable.use((durable) => durable.start(job))

/**
 * Stores every job of a stream, and emits the outcome of each job in the order of the stream. If a job is refused, the
 * other jobs are stored all the same. The use of memory does not grow with the number of jobs, and each runner uploads
 * a limited number of files at the same time.
 *
 * With `packing`, jobs with equal params share Assemblies: see {@link AllOptions}. Each job keeps its key, its outcome and
 * its part of the Status.
 *
 * @example
 * Durable.startAll(Stream.map(Stream.fromIterable(paths), toJob)).pipe(
 *   Stream.runForEach((outcome) =>
 *     outcome._tag === "Refused" ? Console.error(`${outcome.job.key}: ${outcome.error.message}`) : Effect.void
 *   )
 * )
 *
 * @since 0.1.0
 * @category running
 */
export const startAll = <E, R>(
  jobs: Stream.Stream<Job, E, R>,
  options?: Callers.AllOptions
): Stream.Stream<Callers.StartOutcome, E | InvalidRequest | DurableError.StoreFailed, R | Durable> =>
  Stream.unwrap(Durable.useSync((durable) => durable.startAll(jobs, options)))

const await_ = (key: string): Effect.Effect<Assembly.Status, Callers.AwaitError, Durable> =>
  Durable.use((durable) => durable.await(key))

export {
  /**
   * Waits until the job has ended, and reads the Status of its Assembly. The Status is not stored, because it contains
   * capabilities.
   *
   * @example Durable.await("video-42")
   *
   * @since 0.1.0
   * @category running
   */
  await_ as await
}

/**
 * Starts a job and waits for its end: {@link start}, then `await`. An interruption of the wait does not stop the job.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (job: Job): Effect.Effect<Assembly.Status, Callers.StartError | Callers.AwaitError, Durable> =>
  Effect.andThen(start(job), await_(job.key))

/**
 * The state of a job, the reason why the job waits, and the number of bytes of the job that the service has stored. If
 * the state of the job does not show this number, `status` requests the number from the service. The number is
 * undefined if the request fails or takes longer than 10 seconds.
 *
 * @since 0.1.0
 * @category reading
 */
export const status = (
  key: string
): Effect.Effect<Status, DurableError.JobUnknown | DurableError.StoreFailed, Durable> =>
  Durable.use((durable) => durable.status(key))

/**
 * Cancels a job, and returns when the cancellation is stored. A job that has ended is unchanged. A queued job is
 * `Canceled` at once. Any other job is `Canceling`: its runner stops the upload and cancels the Assembly. If no runner
 * is running, the next runner that starts cancels the Assembly. If a request for the cancellation fails, `waiting` says
 * why. A job that shares an Assembly stays `Canceling` until this Assembly has ended. If the service does not confirm the cancellation within the `patience` of the runner, the job is `Failed`, and
 * its Assembly may still run.
 *
 * @since 0.1.0
 * @category running
 */
export const cancel = (
  key: string
): Effect.Effect<Summary, DurableError.JobUnknown | DurableError.StoreFailed, Durable> =>
  Durable.use((durable) => durable.cancel(key))

/**
 * Starts the next attempt of a job that failed or was canceled, with other params or files if `changes` has them. The
 * new attempt has its own Assembly, and accepts sources that have changed.
 *
 * **Details**
 *
 * Before `retry` queues the next attempt, it cancels the Assembly of the last attempt. So a key never has two Assemblies
 * that run at the same time. `retry` tries to cancel up to 5 times within 30 seconds. If the service does not confirm
 * that the Assembly has ended, the error is `AssemblyMayRun`, and the job is unchanged.
 *
 * @example Durable.retry("video-42", { params: { templateId: "the-right-template" } })
 *
 * @since 0.1.0
 * @category running
 */
export const retry = (key: string, changes?: Callers.Changes): Effect.Effect<Summary, Callers.RetryError, Durable> =>
  Durable.use((durable) => durable.retry(key, changes))

/**
 * The jobs in the database that the filter selects, in the order of their keys. The stream reads pages, so the memory use
 * does not depend on the number of jobs. If the row of a job is damaged, the stream emits all other jobs, and then fails
 * with `StoreFailed`, which contains the key of the damaged job.
 *
 * @example Durable.list({ state: "Failed", prefix: "video-" })
 *
 * @since 0.1.0
 * @category reading
 */
export const list = (filter?: Filter): Stream.Stream<Summary, Callers.ListError, Durable> =>
  Stream.unwrap(Durable.useSync((durable) => durable.list(filter)))

/**
 * How many jobs are in each state. Also sets the gauges `durable_jobs` and `durable_job_age`: a program that exports
 * metrics calls this function before each export.
 *
 * @since 0.1.0
 * @category reading
 */
export const counts: Effect.Effect<ReadonlyArray<Count>, DurableError.StoreFailed, Durable> = Durable.use(
  (durable) => durable.counts
)

/**
 * What became of one job of {@link retryAll} or {@link cancelAll}.
 *
 * @since 0.1.0
 * @category models
 */
export interface Steered<E> {
  readonly key: string
  readonly result: Result.Result<Summary, E>
}

/** Changes the jobs of a list, 8 at the same time. */
const steer = <E, R>(
  jobs: Stream.Stream<Summary, Callers.ListError, R>,
  change: (key: string) => Effect.Effect<Summary, E, R>
) =>
  Stream.mapEffect(jobs, ({ key }) => Effect.map(Effect.result(change(key)), (result) => ({ key, result })), {
    concurrency: 8
  })

/**
 * Calls {@link retry} for every job that the filter selects; without a `state`, for those that failed. Emits what became
 * of each job.
 *
 * @example Durable.retryAll({ prefix: "video-" }).pipe(Stream.filter(({ result }) => Result.isFailure(result)))
 *
 * @since 0.1.0
 * @category running
 */
export const retryAll = (filter: Filter): Stream.Stream<Steered<Callers.RetryError>, Callers.ListError, Durable> =>
  steer(list({ ...filter, state: filter.state ?? "Failed" }), retry)

/**
 * Calls {@link cancel} for every job that the filter selects and that has not ended. Emits what became of each job.
 *
 * @since 0.1.0
 * @category running
 */
export const cancelAll = (
  filter: Filter
): Stream.Stream<Steered<DurableError.JobUnknown | DurableError.StoreFailed>, Callers.ListError, Durable> =>
  steer(
    Stream.filter(list(filter), ({ endedAt }) => endedAt === undefined),
    cancel
  )

/**
 * Ends the pause of the job that waits for this Assembly, so that its runner reads the Status at once. Call this
 * function when the service has sent a notification about the Assembly. Any runner or client may call this function.
 * The call does nothing if no job has this Assembly. Only the id is used: the runner reads the Status from the service,
 * so the content of the notification need not be trusted.
 *
 * **Gotchas**
 *
 * Verify the notification first, for example with `Webhooks` of `@assembly-effect/http`.
 *
 * @since 0.1.0
 * @category running
 */
export const notified = (assemblyId: string): Effect.Effect<void, DurableError.StoreFailed, Durable> =>
  Durable.use((durable) => durable.notified(assemblyId))
