/**
 * Runs a stream of jobs of any length. Each job creates an Assembly and uploads its files. The number of concurrent
 * jobs and uploads is limited, so the memory that a batch needs does not depend on the number of its jobs.
 *
 * Import this module by its path, because the index does not export it: `import * as AssemblyBatch from
 * "@assembly-effect/tus/AssemblyBatch"`.
 */
import * as Schema from "effect/Schema"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import { Admission } from "@assembly-effect/api/unstable/Transport"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type * as AssemblyJob from "./AssemblyJob.ts"
import * as AssemblyUpload from "./AssemblyUpload.ts"
import type { AssemblyUploadError, ResumableAssemblyUploadError } from "./AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "./AssemblyUploadEvent.ts"
import * as AssemblyFiles from "./internal/assemblyFiles.ts"
import * as Events from "./internal/events.ts"
import * as JournaledJob from "./internal/journaledJob.ts"
import * as Pauses from "./internal/pauses.ts"
import type { UploadJournal } from "./UploadJournal.ts"
import type { Replayable } from "./UploadSource.ts"

/**
 * A job of a batch. The outcome of a job contains the whole job.
 *
 * - `data`: any data of the program, such as the id of a row in a database. A job has no fields except `data` and those
 *   of `AssemblyJob.Job`, so that a misspelt option does not compile.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job<R = never> extends AssemblyJob.Job<AssemblyJob.File<R>> {
  readonly data?: unknown
}

/**
 * A {@link Job} of {@link runResumable}. The sources of this job can be read again.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResumableJob<R = never> extends AssemblyJob.Job<AssemblyJob.File<R, Replayable>> {
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
 * The job has completed. `status` is the Status of the Assembly of the job, see `AssemblyUpload.run`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completed<J> {
  readonly _tag: "Completed"
  readonly job: J
  readonly status: Assembly.Status
}

/**
 * The job failed with `error`. The other jobs are not affected.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed<J, E> {
  readonly _tag: "Failed"
  readonly job: J
  readonly error: E
}

/**
 * The job ended with a defect, or interrupted itself; `cause` shows which. A defect in an upload cancels the Assembly
 * of the job. The other jobs are not affected.
 *
 * @since 0.1.0
 * @category models
 */
export interface Died<J> {
  readonly _tag: "Died"
  readonly job: J
  readonly cause: Cause.Cause<never>
}

/**
 * An earlier run has completed the job, so this run sent no request to the service for this job.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skipped<J> {
  readonly _tag: "Skipped"
  readonly job: J
  readonly assemblyId: Assembly.AssemblyId
}

/**
 * How a job of {@link run} ended.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome<J> = Completed<J> | Failed<J, AssemblyUploadError> | Died<J>

/**
 * How a job of {@link runResumable} ended.
 *
 * @since 0.1.0
 * @category models
 */
export type ResumableOutcome<J> = Completed<J> | Skipped<J> | Failed<J, ResumableAssemblyUploadError> | Died<J>

/**
 * - `assemblies`: the maximum number of jobs that run at the same time, 8 by default.
 * - `uploads`: the maximum number of uploads of all jobs at the same time, 8 by default. The `concurrency` of a job
 *   limits its own uploads further.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly assemblies?: number | undefined
  readonly uploads?: number | undefined
}

const atOnce = 8

const check = Rules.decoder(
  "AssemblyBatch",
  Schema.Struct({ assemblies: Schema.optional(Rules.whole(1)), uploads: Schema.optional(Rules.whole(1)) })
)

/**
 * Runs the jobs, at most `assemblies` at the same time. All jobs share one limit of concurrent uploads, and the pauses
 * that the service requests. If the stream of jobs fails, the running jobs are interrupted; `mapEffect` alone would
 * first wait until these jobs end.
 */
const outcomes = <J, E, R, Out, R2>(
  jobs: Stream.Stream<J, E, R>,
  options: Options,
  runOne: (job: J) => Effect.Effect<Out, never, R2>
): Stream.Stream<Out, E | InvalidRequest, R | R2> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* check(options)
      const permits = yield* Semaphore.make(options.uploads ?? atOnce)
      const pauses = Pauses.shared(yield* Admission.Admission)
      const failure = yield* Deferred.make<never, E>()
      return jobs.pipe(
        Stream.onError((cause) => Deferred.failCause(failure, cause)),
        Stream.mapEffect(
          (job) =>
            runOne(job).pipe(
              Effect.provideService(AssemblyFiles.Permits, permits),
              Effect.provideService(Admission.Admission, pauses)
            ),
          { concurrency: options.assemblies ?? atOnce, unordered: true }
        ),
        Stream.interruptWhen(Deferred.await(failure))
      )
    })
  )

/**
 * The outcome of a job that failed, ended with a defect, or interrupted itself. `failed` is not called when the whole
 * batch is interrupted.
 */
const failed =
  <J>(job: J) =>
  <E>(cause: Cause.Cause<E>): Failed<J, E> | Died<J> =>
    Option.match(Cause.findErrorOption(cause), {
      onNone: () => ({ _tag: "Died", job, cause: cause as Cause.Cause<never> }),
      onSome: (error) => ({ _tag: "Failed", job, error })
    })

/**
 * Runs every job of a stream, and emits the outcome of each job when the job ends. The outcomes are not in the order of
 * the jobs.
 *
 * **When to use**
 *
 * Use `AssemblyBatch` for many jobs, such as the files of a folder or the rows of a table. Use `AssemblyUpload` for one
 * job.
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
 * If the service limits the rate of one request (429), the requests of all jobs to the same origin wait for the
 * requested pause, at most an hour. An interruption of the batch, or a failure of the stream of jobs, cancels the
 * Assemblies of the running jobs; their outcomes are not emitted.
 *
 * @example
 * Stream.fromIterable(paths).pipe(
 *   Stream.map((path) => ({
 *     data: path,
 *     params: { templateId: "thumbnails" },
 *     files: [{ source: UploadSource.fromPath(path), filename: "photo.jpg" }]
 *   })),
 *   (jobs) => AssemblyBatch.run(jobs, { assemblies: 16 }),
 *   Stream.runForEach((outcome) => Console.log(outcome.job.data, outcome._tag))
 * )
 *
 * @since 0.1.0
 * @category running
 */
export const run = <J, E, R, RS = never>(
  jobs: Stream.Stream<Exact<J> & Job<RS>, E, R>,
  options: Options = {}
): Stream.Stream<Outcome<J>, E | InvalidRequest, R | RS | AssemblyClient | HttpClient.HttpClient> =>
  outcomes(jobs, options, (job) =>
    AssemblyUpload.run<RS>({ ...job, cancelOnInterrupt: true }).pipe(
      Effect.matchCause({
        onSuccess: (status): Outcome<J> => ({ _tag: "Completed", job, status }),
        onFailure: failed(job)
      })
    )
  )

/** Skips a completed job of the journal, continues an unfinished job of the journal, or starts a new job. */
const resume = <J, RS>(job: J & ResumableJob<RS>) =>
  Effect.gen(function* () {
    const prepared = yield* JournaledJob.prepare<RS>(job)
    const done = yield* JournaledJob.completed(prepared)
    if (Option.isSome(done)) {
      return { _tag: "Skipped", job, assemblyId: done.value.assemblyId } satisfies Skipped<J>
    }
    const events = Events.fromProgram(
      (emit: AssemblyFiles.Emit) => JournaledJob.run(prepared, emit),
      AssemblyFiles.isTransient
    )
    return { _tag: "Completed", job, status: yield* AssemblyUploadEvent.result(events) } satisfies Completed<J>
  })

/**
 * Runs every job of a stream as {@link run} does, and stores the jobs in the journal. A later run with the same jobs
 * continues the jobs that have not ended, and skips the jobs that have completed.
 *
 * **Details**
 *
 * The documentation of `ResumableAssemblyUpload.run` says when two jobs count as the same job. A skipped job needs no
 * request to the service. A completed job is skipped until its entry in the journal expires, by default 60 days after a
 * run has recorded its completion (`completedExpiry`). A skip does not verify the job again, and does not postpone the
 * expiry of its entry. A failed job is run again.
 *
 * With `wait: false`, the run that uploads the files does not record that the job has completed. The next run requests
 * the Status of the Assembly, and sends no stored file again. If this Status shows that the Assembly has completed, the
 * following runs skip the job.
 *
 * An interruption of the batch, or a failure of the stream of jobs, keeps the Assemblies of the running jobs for the
 * next run.
 *
 * @example
 * AssemblyBatch.runResumable(jobs).pipe(
 *   Stream.runForEach((outcome) => Console.log(outcome._tag)),
 *   Effect.provide(UploadJournal.layerFileSystem("/var/lib/my-app/uploads"))
 * )
 *
 * @since 0.1.0
 * @category running
 */
export const runResumable = <J, E, R, RS = never>(
  jobs: Stream.Stream<Exact<J> & ResumableJob<RS>, E, R>,
  options: Options = {}
): Stream.Stream<
  ResumableOutcome<J>,
  E | InvalidRequest,
  R | RS | AssemblyClient | HttpClient.HttpClient | UploadJournal
> =>
  outcomes(jobs, options, (job) =>
    Effect.matchCause(resume<J, RS>(job), { onSuccess: (outcome) => outcome, onFailure: failed(job) })
  )
