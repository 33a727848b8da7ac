/** The host of durable jobs: the service behind `Durable`. */
import * as Schema from "effect/Schema"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Steps from "@assembly-effect/tus/unstable/Steps"
import { Sharding } from "effect/cluster/Sharding"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Redacted from "effect/Redacted"
import type * as SqlClient from "effect/sql/SqlClient"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { JobUnknown, StoreFailed } from "../DurableError.ts"
import type { Changes, Job, State, Status, Summary } from "../DurableJob.ts"
import * as Attendant from "./attendant.ts"
import * as Deployment from "./deployment.ts"
import * as Derive from "./derive.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as JobWorkflow from "./jobWorkflow.ts"
import * as Lease from "./lease.ts"
import * as Migrations from "./migrations.ts"
import * as Outage from "./outage.ts"
import * as Places from "./places.ts"
import * as Quota from "./quota.ts"
import * as Reading from "./reading.ts"
import * as Retention from "./retention.ts"
import * as Starting from "./starting.ts"
import * as Store from "./store.ts"
import * as Work from "./work.ts"

/**
 * The options of a runner.
 *
 * - `secrets`: the secrets of the deployment, each of at least 32 bytes. The ids of Assemblies and the markers of
 *   uploads are derived from these secrets. The first secret is used for new attempts; the others are used to continue
 *   attempts that began with them. All runners and clients must have the same secrets.
 * - `uploads`: the number of places of this runner, 8 by default: how many jobs, and how many files, it uploads at the
 *   same time. The runner has as many further places for jobs that it takes over from another runner, so that these
 *   jobs do not wait for the uploads of this runner.
 * - `patience`: how long a runner retries a job after temporary failures, for example while the service does not
 *   answer, and how long it retries the cancellation of a job. 1 hour by default. If another runner takes the job over,
 *   the time for retries starts again, but the time for a cancellation does not. A pause that the service requests (HTTP
 *   status 429) applies to all jobs of the database, for at most 1 day, and does not count: the time starts again after
 *   the pause. A job waits without this limit if the service refuses the credentials or the account, if the host or the
 *   certificate of the service is wrong, or if the runner does not know the secret of the attempt.
 * - `pollInterval`: the longest pause before the runner requests the Status of an Assembly in process again, 1 minute
 *   by default. `Durable.notified` ends the pause.
 * - `retention`: how long a job stays in the database after it has ended, 7 days by default. A runner removes such jobs
 *   at least once an hour. After the removal, another job can use the key of the job.
 * - `upload`: the options of each upload.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  readonly uploads?: number | undefined
  readonly patience?: Duration.Input | undefined
  readonly pollInterval?: Duration.Input | undefined
  readonly retention?: Duration.Input | undefined
  readonly upload?: JobAtRest.UploadOptions | undefined
}

/**
 * What a host of jobs needs: the database, the cluster with its workflow engine, the clients of the service, and the
 * file system.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements =
  | SqlClient.SqlClient
  | Sharding
  | MessageStorage
  | WorkflowEngine
  | AssemblyClient
  | HttpClient.HttpClient
  | FileSystem.FileSystem

/**
 * The service behind `Durable`.
 *
 * @since 0.1.0
 * @category services
 */
export interface Host {
  readonly start: (job: Job) => Effect.Effect<Summary, Starting.StartError>
  readonly startAll: <E, R>(jobs: Stream.Stream<Job, E, R>) => Stream.Stream<Starting.StartOutcome, E | StoreFailed, R>
  readonly await: (key: string) => Effect.Effect<Assembly.Status, Reading.AwaitError>
  readonly status: (key: string) => Effect.Effect<Status, JobUnknown | StoreFailed>
  readonly cancel: (key: string) => Effect.Effect<Summary, JobUnknown | StoreFailed>
  readonly retry: (key: string, changes?: Changes) => Effect.Effect<Summary, Starting.RetryError>
  readonly list: (options?: { readonly state?: State | undefined }) => Stream.Stream<Summary, StoreFailed>
  readonly notified: (assemblyId: string) => Effect.Effect<void, StoreFailed>
}

const defaultUploads = 8

/** How many files a runner uploads at the same time, for its first line in the log. */
export const describeUploads = (uploads: number = defaultUploads): string =>
  uploads === 1 ? "1 file at a time" : `${uploads} files at a time`

/** How many jobs `startAll` stores with one statement. */
const pageSize = 100

const settingIssues = Rules.checker(
  Schema.Struct({
    uploads: Schema.optional(Rules.whole(1)),
    patience: Schema.optional(Rules.duration),
    pollInterval: Schema.optional(Rules.duration),
    retention: Schema.optional(Rules.duration),
    upload: Schema.optional(Schema.Record(Schema.String, Schema.Unknown))
  })
)

/** The rules that the options break. */
export const issues = (options: Options): ReadonlyArray<Issue> => {
  const found = settingIssues(options)
  return found.length > 0
    ? found
    : Steps.issues({ ...options.upload, metadata: { filename: "a", fieldname: "a" } }).map(({ message, path }) => ({
        message,
        path: ["upload", ...path]
      }))
}

const check = (options: Options): Effect.Effect<void, InvalidRequest> => {
  const found = issues(options)
  return found.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ operation: "Durable", issues: found }))
}

/**
 * What this process does after it has queued or canceled a job in the table. A client does nothing, because the runners
 * read the table.
 */
interface Reactions {
  readonly queued: Effect.Effect<void>
  readonly canceled: (execution: string) => Effect.Effect<void>
}

const noReactions: Reactions = { queued: Effect.void, canceled: () => Effect.void }

interface Parts {
  readonly store: Store.Store
  readonly derive: Derive.Derive
  readonly waiting: Attendant.Waiting
}

/**
 * Registers the workflow before anything else, because the engine delivers the executions of an earlier process at
 * once. These executions wait until the Deferred `work` is completed.
 */
const register = Effect.fnUntraced(function* (options: Options, work: Deferred.Deferred<Work.Activities>) {
  const engine = yield* WorkflowEngine
  yield* engine.register(
    JobWorkflow.JobWorkflow,
    JobWorkflow.body({
      upload: (...args) => Effect.flatMap(Deferred.await(work), ({ upload }) => upload(...args)),
      outcome: (...args) => Effect.flatMap(Deferred.await(work), ({ outcome }) => outcome(...args)),
      pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? "1 minute")
    })
  )
})

/** Runs jobs until the scope closes. */
const run = Effect.fnUntraced(function* (
  { patience = "1 hour", retention = "7 days", upload = {}, uploads = defaultUploads }: Options,
  { derive, store, waiting }: Parts,
  work: Deferred.Deferred<Work.Activities>
) {
  let refill: Effect.Effect<void> = Effect.void
  const lease = yield* Lease.Lease
  const outage = yield* Outage.Outage
  const sharding = yield* Sharding
  const quota = Quota.make(store, outage)
  yield* quota.refresh
  const activities = Work.make({
    quota,
    sending: { store, derive, upload },
    places: Places.make(uploads),
    patience: Duration.fromInputUnsafe(patience),
    held: (execution) => lease.held(Attendant.shardIdOf(sharding, execution)),
    outage,
    begun: Effect.suspend(() => refill),
    ended: waiting.wake
  })
  const attendant = yield* Attendant.makeRunning({ store, window: 2 * uploads, refresh: quota.refresh, ...activities })
  refill = attendant.refill
  yield* Deferred.succeed(work, activities)
  yield* Effect.forkScoped(attendant.loop)
  yield* Effect.forkScoped(Retention.loop(store, Duration.fromInputUnsafe(retention)))
  return {
    queued: attendant.change,
    // If this process runs the job, the job stops at once. Otherwise the attendant of the runner that has the shard of
    // the job cancels the Assembly.
    canceled: (execution) => Effect.andThen(activities.stop(execution), attendant.changeAll)
  } satisfies Reactions
})

/** Makes the service behind `Durable`. Creates the missing tables, and runs jobs if `runs` is true. */
export const make = Effect.fnUntraced(function* (options: Options, role: { readonly runs: boolean }) {
  yield* check(options)
  yield* Attendant.checkShards
  const work = yield* Deferred.make<Work.Activities>()
  if (role.runs) yield* register(options, work)
  yield* Migrations.run
  const store = yield* Store.make
  const derive = yield* Derive.make(options.secrets)
  yield* Deployment.join({ fingerprints: derive.fingerprints, runs: role.runs, isRepeated: true })
  const waiting = Attendant.makeWaiting(store)
  const reactions = role.runs ? yield* run(options, { store, derive, waiting }, work) : noReactions
  yield* Effect.forkScoped(waiting.loop)

  const reading = Reading.make({ store, derive, waiting })
  const starting = Starting.make({ store, derive, reading, upload: options.upload ?? {}, queued: reactions.queued })

  const cancel = (key: string): Effect.Effect<Summary, JobUnknown | StoreFailed> =>
    Effect.gen(function* () {
      const canceled = JobAtRest.isKey(key) ? yield* store.cancel(key) : Option.none()
      if (Option.isNone(canceled)) {
        const row = yield* reading.found(key)
        // `store.cancel` changed no row, because the job is unknown, has ended or is already being canceled. If the row
        // now has another state, another caller has retried the job in between, so the new attempt is canceled.
        return Store.hasEnded(row) || row.state === "Canceling" ? Store.toSummary(row) : yield* cancel(key)
      }
      yield* reactions.canceled(yield* JobWorkflow.executionOf(canceled.value))
      yield* waiting.wake(key)
      return Store.toSummary(canceled.value)
    })

  const notified = Effect.fnUntraced(function* (assemblyId: string) {
    const row = yield* store.byLookup(yield* derive.lookups(assemblyId))
    if (Option.isNone(row) || Store.hasEnded(row.value)) return
    const executionId = yield* JobWorkflow.executionOf(row.value)
    yield* JobWorkflow.notify(executionId)
  })

  const context = yield* Effect.context<Requirements>()
  const provided = <A, E>(effect: Effect.Effect<A, E, Requirements>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, context)

  return {
    start: (job) => provided(starting.start(job)),
    startAll: (jobs) =>
      jobs.pipe(
        Stream.grouped(pageSize),
        Stream.mapEffect((page) => provided(starting.startMany(page))),
        Stream.flatMap(Stream.fromIterable)
      ),
    await: (key) => provided(reading.wait(key)),
    status: (key) => provided(reading.status(key)),
    cancel,
    retry: (key, changes) => provided(starting.retry(key, changes)),
    list: reading.list,
    notified: (assemblyId) => provided(notified(assemblyId))
  } satisfies Host
})
