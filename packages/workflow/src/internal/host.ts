/** The host of durable jobs: the service behind `Durable`. */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Settings from "@assembly-effect/api/unstable/Settings"
import * as UploadSteps from "@assembly-effect/tus/UploadSteps"
import type * as Arr from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type * as Durable from "../Durable.ts"
import { JobCanceled, JobConflict, JobFailed, JobUnknown, NotRetryable } from "../DurableError.ts"
import type { Job } from "../DurableJob.ts"
import * as Attendant from "./attendant.ts"
import * as Derive from "./derive.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as JobWorkflow from "./jobWorkflow.ts"
import * as Migrations from "./migrations.ts"
import * as Retention from "./retention.ts"
import * as Sources from "./sources.ts"
import * as Store from "./store.ts"
import * as Transfer from "./transfer.ts"
import * as Work from "./work.ts"

/** The options of each upload. The package sets the metadata. */
export type UploadOptions = Omit<UploadSteps.Options, "metadata">

/** How many jobs `startAll` stores with one statement. */
const pageSize = 100

/** The time limit of the question how many bytes are stored. */
const patience = "10 seconds"

const check = (options: Durable.Options): Effect.Effect<void, ApiError.InvalidRequest> => {
  const issues = [
    ...Settings.issues({
      uploads: Settings.whole(options.uploads, 1),
      patience: Settings.duration(options.patience),
      pollInterval: Settings.duration(options.pollInterval),
      retention: Settings.duration(options.retention)
    }),
    ...UploadSteps.issues({ ...options.upload, metadata: { filename: "a", fieldname: "a" } }).map(
      ({ message, path }) => ({ message, path: ["upload", ...path] })
    )
  ]
  return issues.length === 0 ? Effect.void : Effect.fail(new ApiError.InvalidRequest({ operation: "Durable", issues }))
}

/** Opens the tables, and runs jobs if `runs`. */
export const make = Effect.fnUntraced(function* (options: Durable.Options, role: { readonly runs: boolean }) {
  yield* check(options)
  const { uploads = 8, upload = {} } = options
  const engine = yield* WorkflowEngine
  const work = yield* Deferred.make<Work.Activities>()
  // Executions of an earlier process arrive at once, so their workflow is registered before anything else is done.
  if (role.runs) {
    yield* engine.register(
      JobWorkflow.JobWorkflow,
      JobWorkflow.body({
        upload: (...args) => Effect.flatMap(Deferred.await(work), (activities) => activities.upload(...args)),
        outcome: (...args) => Effect.flatMap(Deferred.await(work), (activities) => activities.outcome(...args)),
        pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? "1 minute")
      })
    )
  }
  yield* Migrations.run
  const store = yield* Store.make
  const derive = yield* Derive.make(options.secrets)
  const context = yield* Effect.context<Durable.Requirements>()
  const waiting = Attendant.makeWaiting(store)
  let change: Effect.Effect<void> = Effect.void
  let changeAll: Effect.Effect<void> = Effect.void
  let stop: Work.Activities["stop"] = () => Effect.succeed(false)
  let refill: Effect.Effect<void> = Effect.void

  if (role.runs) {
    const runner = Work.make({
      sending: { store, derive, files: Semaphore.makeUnsafe(uploads), upload },
      jobs: Semaphore.makeUnsafe(uploads),
      patience: Duration.fromInputUnsafe(options.patience ?? "1 hour"),
      begun: Effect.suspend(() => refill),
      ended: waiting.wake
    })
    const running = yield* Attendant.makeRunning({ store, window: 2 * uploads, cancel: runner.cancel })
    change = running.change
    changeAll = running.changeAll
    stop = runner.stop
    refill = running.refill
    yield* Deferred.succeed(work, runner)
    yield* Effect.forkScoped(running.loop)
    yield* Effect.forkScoped(Retention.loop(store, Duration.fromInputUnsafe(options.retention ?? "7 days")))
  }
  yield* waiting.check.pipe(Effect.ignore, Effect.delay("500 millis"), Effect.forever, Effect.forkScoped)

  const executionOf = (attempt: Store.Attempt) => JobWorkflow.JobWorkflow.executionId(attempt)

  const found = (key: string) =>
    Effect.flatMap(
      store.find(key),
      Option.match({ onNone: () => Effect.fail(new JobUnknown({ key })), onSome: Effect.succeed })
    )

  /** A checked job with its open sources, as a new row. */
  const prepare = Effect.fnUntraced(function* (job: Job) {
    const text = yield* JobAtRest.encode(job, upload)
    const opened = yield* Sources.openAll(job.files)
    const execution = yield* executionOf({ key: job.key, attempt: 1 })
    return {
      key: job.key,
      job: text,
      sources: opened.map(({ atRest }) => atRest),
      shard: yield* Attendant.shardOf(execution)
    } satisfies Store.NewRow
  })

  const startMany = Effect.fnUntraced(function* (jobs: Arr.NonEmptyReadonlyArray<Job>) {
    const rows = yield* Effect.forEach(jobs, prepare, { concurrency: 4 })
    const stored = new Map((yield* store.insert(rows)).map((row) => [row.key, row]))
    yield* change
    const known = rows.filter(({ key }) => !stored.has(key)).map(({ key }) => key)
    for (const row of yield* store.findAll(known)) stored.set(row.key, row)
    return yield* Effect.forEach(rows, ({ job, key }) => {
      const row = stored.get(key)
      return row === undefined || row.job !== job
        ? Effect.fail(new JobConflict({ key }))
        : Effect.succeed(Store.toSummary(row))
    })
  })

  const start = Effect.fnUntraced(function* (job: Job) {
    const text = yield* JobAtRest.encode(job, upload)
    const known = yield* store.find(job.key)
    if (Option.isSome(known)) {
      return known.value.job === text
        ? Store.toSummary(known.value)
        : yield* Effect.fail(new JobConflict({ key: job.key }))
    }
    const [summary] = yield* startMany([job])
    return summary ?? (yield* Effect.fail(new JobConflict({ key: job.key })))
  })

  /** How the current attempt of a key ended. Waits until it has ended. */
  const end = (key: string): Effect.Effect<Store.Row, Effect.Error<ReturnType<typeof found>>> =>
    Effect.gen(function* () {
      for (;;) {
        // Begins to wait before the read, so that no end is missed.
        const woken = yield* Effect.forkChild(waiting.wait(key), { startImmediately: true })
        const row = yield* found(key)
        if (Store.hasEnded(row)) return row
        yield* Fiber.join(woken)
      }
    })

  const wait = Effect.fnUntraced(function* (key: string) {
    const row = yield* end(key)
    const { attempt, failure } = row
    if (row.state === "Canceled") return yield* Effect.fail(new JobCanceled({ key, attempt }))
    if (row.state === "Failed") {
      return yield* Effect.fail(
        new JobFailed({ key, attempt, failure: failure ?? { reason: "Unknown", message: "no reason is stored" } })
      )
    }
    const execution = yield* executionOf(row)
    return yield* Assemblies.get(yield* derive.assemblyId(Transfer.secretOf(row), execution))
  })

  /** How many bytes of an attempt the service has stored, by its receipts. */
  const storedBytes = Effect.fnUntraced(function* (row: Store.Row) {
    if (row.state === "Completed" || row.state === "Processing") return row.size
    if (row.begins === 0) return 0n
    const execution = yield* executionOf(row)
    const status = yield* Effect.flatMap(derive.assemblyId(Transfer.secretOf(row), execution), Assemblies.get)
    return (status.tus_uploads ?? []).reduce((sum, { offset }) => sum + BigInt(offset ?? 0), 0n)
  })

  const provided = <A, E>(effect: Effect.Effect<A, E, Durable.Requirements>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, context)

  return {
    start: (job) => provided(start(job)),
    startAll: (jobs) =>
      jobs.pipe(
        Stream.grouped(pageSize),
        Stream.mapEffect((page) => provided(startMany(page))),
        Stream.flatMap(Stream.fromIterable)
      ),
    await: (key) => provided(wait(key)),
    status: (key) =>
      provided(
        Effect.gen(function* () {
          const row = yield* found(key)
          const stored = yield* storedBytes(row).pipe(
            Effect.timeout(patience),
            Effect.orElseSucceed(() => 0n)
          )
          return { ...Store.toSummary(row), stored }
        })
      ),
    cancel: (key) =>
      Effect.gen(function* () {
        const canceled = yield* store.cancel(key)
        if (Option.isNone(canceled)) return Store.toSummary(yield* found(key))
        // The bytes of this process stop at once. The attendant does the rest.
        yield* stop(yield* executionOf(canceled.value))
        yield* changeAll
        yield* waiting.wake(key)
        return Store.toSummary(canceled.value)
      }),
    retry: (key) =>
      provided(
        Effect.gen(function* () {
          const row = yield* found(key)
          const { state } = row
          if (state !== "Failed" && state !== "Canceled") return yield* Effect.fail(new NotRetryable({ key, state }))
          const opened = yield* Sources.openAll((yield* JobAtRest.decode(row.job)).files)
          const execution = yield* executionOf({ key, attempt: row.attempt + 1 })
          const next = yield* store.retry(
            row,
            opened.map(({ atRest }) => atRest),
            yield* Attendant.shardOf(execution)
          )
          yield* change
          // Another process has retried the same attempt.
          return Store.toSummary(Option.isSome(next) ? next.value : yield* found(key))
        })
      ),
    list: ({ state } = {}) =>
      Stream.paginate("", (after) =>
        Effect.map(store.page({ state, after, limit: pageSize }), (rows) => [
          rows.map(Store.toSummary),
          rows.length < pageSize ? Option.none() : Option.fromUndefinedOr(rows.at(-1)?.key)
        ])
      ),
    notified: (assemblyId) =>
      provided(
        Effect.gen(function* () {
          const row = yield* store.byLookup(yield* derive.lookups(assemblyId))
          if (Option.isNone(row) || Store.hasEnded(row.value)) return
          const executionId = yield* executionOf(row.value)
          const token = DurableDeferred.tokenFromExecutionId(JobWorkflow.Notified, {
            workflow: JobWorkflow.JobWorkflow,
            executionId
          })
          yield* DurableDeferred.succeed(JobWorkflow.Notified, { token, value: undefined })
        })
      )
  } satisfies Durable.Durable["Service"]
})
