/** Stores jobs: checks the jobs, opens their sources, and queues the jobs whose keys are not in the table. */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type { Sharding } from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { AssemblyMayRun, JobConflict, type JobUnknown, NotRetryable, type StoreFailed } from "../DurableError.ts"
import type { Changes, Job, Summary } from "../DurableJob.ts"
import * as Attendant from "./attendant.ts"
import * as Canceling from "./canceling.ts"
import type { Derive } from "./derive.ts"
import * as Failure from "./failure.ts"
import * as JobAtRest from "./jobAtRest.ts"
import { executionOf } from "./jobWorkflow.ts"
import type * as Reading from "./reading.ts"
import * as Sources from "./sources.ts"
import * as Store from "./store.ts"
import * as StoreError from "./storeError.ts"

/**
 * Why a job is not stored: the job is invalid, a source cannot be read, or another job has the same key.
 *
 * @since 0.1.0
 * @category errors
 */
export type JobRefused = InvalidRequest | SourceFailed | JobConflict

/**
 * The errors of `Durable.start`: the job is refused, or the database fails. A refused job is not stored. After
 * `StoreFailed`, the job may be stored, because the response of the database may be lost: repeat the call.
 *
 * @since 0.1.0
 * @category errors
 */
export type StartError = JobRefused | StoreFailed

/**
 * What `Durable.startAll` did with one job. `Started`: the job is stored. `Refused`: the job is not stored, and `error`
 * says why. `error` is `StoreFailed` if the stored job with this key is damaged.
 *
 * @since 0.1.0
 * @category models
 */
export type StartOutcome =
  | { readonly _tag: "Started"; readonly job: Job; readonly summary: Summary }
  | { readonly _tag: "Refused"; readonly job: Job; readonly error: StartError }

/**
 * The errors of `Durable.retry`. If the call fails, it has not queued another attempt, except perhaps after
 * `StoreFailed`.
 *
 * @since 0.1.0
 * @category errors
 */
export type RetryError = StartError | JobUnknown | NotRetryable | AssemblyMayRun

type Services = Sharding | FileSystem.FileSystem

/** `queued`: called after jobs were queued. */
interface Options {
  readonly store: Store.Store
  readonly derive: Derive
  readonly reading: Reading.Reading
  readonly upload: JobAtRest.UploadOptions
  readonly queued: Effect.Effect<void>
}

/** How long a retry waits until the service confirms that the Assembly of the last attempt has ended. */
const patience = "30 seconds"

/**
 * A job that a caller starts. `sources` has the current size and identity of each source, or undefined for a source
 * that cannot be read.
 */
interface Now {
  readonly key: string
  readonly job: string
  readonly files: JobAtRest.Text["files"]
  readonly sources: ReadonlyArray<JobAtRest.SourceAtRest | undefined>
}

/** The row of a key, or the error of a damaged row. */
type Stored = readonly [key: string, row: Result.Result<Store.Row, StoreFailed>]

/**
 * Returns the summary of the stored job `row`. Fails if the job that the caller starts has other params or files, or if
 * a file has changed since the stored job was queued.
 */
const same = (
  { files, job, key, sources }: Now,
  found: Result.Result<Store.Row, StoreFailed> | undefined
): Effect.Effect<Summary, JobConflict | StoreFailed> =>
  Effect.gen(function* () {
    const row = found === undefined ? undefined : yield* Effect.fromResult(found)
    if (row?.job !== job) return yield* new JobConflict({ key })
    const changed = Sources.changed(files, row.sources, sources)
    return changed.length === 0 ? Store.toSummary(row) : yield* new JobConflict({ key, changed })
  })

export const make = ({ derive, queued, reading, store, upload }: Options) => {
  /** Makes the row of an attempt, with the current sizes and identities of its sources. */
  const toRow = Effect.fnUntraced(function* (attempt: Store.Attempt, { files, text }: JobAtRest.Text) {
    const opened = yield* Sources.openAll(files)
    return {
      key: attempt.key,
      job: text,
      files,
      sources: opened.map(({ atRest }) => atRest),
      shard: yield* Attendant.shardOf(yield* executionOf(attempt))
    } satisfies Store.NewRow & Now
  })

  /** Checks a job, opens its sources, and makes its row. */
  const prepare = Effect.fnUntraced(function* (job: Job) {
    return yield* toRow({ key: job.key, attempt: 1 }, yield* JobAtRest.encode("Durable.start", job, upload))
  })

  /**
   * Stores rows with one statement. A row whose key is already in the table is not stored. Returns the rows that the
   * table then has for all these keys.
   */
  const insert = Effect.fnUntraced(function* (rows: ReadonlyArray<Store.NewRow>) {
    if (!Arr.isReadonlyArrayNonEmpty(rows)) return new Map<Stored[0], Stored[1]>()
    const stored = new Map((yield* store.insert(rows)).map((row): Stored => [row.key, Result.succeed(row)]))
    yield* queued
    const known = rows.filter(({ key }) => !stored.has(key)).map(({ key }) => key)
    for (const [key, row] of yield* store.findAll(known)) stored.set(key, row)
    return stored
  })

  /**
   * Stores a job. If the job is already stored, a source that can no longer be read is not an error, because a program
   * may delete what it has uploaded.
   */
  const start = (job: Job): Effect.Effect<Summary, StartError, Services> =>
    Effect.gen(function* () {
      const encoded = yield* JobAtRest.encode("Durable.start", job, upload)
      const known = yield* store.find(job.key)
      if (Option.isSome(known)) {
        const sources = yield* Sources.look(encoded.files)
        return yield* same(
          { key: job.key, job: encoded.text, files: encoded.files, sources },
          Result.succeed(known.value)
        )
      }
      const row = yield* toRow({ key: job.key, attempt: 1 }, encoded)
      return yield* same(row, (yield* insert([row])).get(job.key))
    })

  const refused = (job: Job) => (error: StartError) => ({ _tag: "Refused" as const, job, error })

  const started = (job: Job) => (summary: Summary) => ({ _tag: "Started" as const, job, summary })

  /** Stores one job, as {@link start} does. */
  const startOne = (job: Job): Effect.Effect<StartOutcome, StoreFailed, Services> =>
    start(job).pipe(
      Effect.map(started(job)),
      Effect.catch((error) =>
        error._tag === "StoreFailed" && !StoreError.isDamaged(error)
          ? Effect.fail(error)
          : Effect.succeed(refused(job)(error))
      )
    )

  /** Stores all valid jobs of `jobs` with one statement. Returns the outcome of each job. */
  const startMany = (jobs: ReadonlyArray<Job>): Effect.Effect<ReadonlyArray<StartOutcome>, StoreFailed, Services> =>
    Effect.gen(function* () {
      const prepared = yield* Effect.forEach(
        jobs,
        (job) =>
          Effect.matchEffect(prepare(job), {
            // The job may be stored already. Then its sources need not be readable any more.
            onFailure: (error) => (error._tag === "SourceFailed" ? startOne(job) : Effect.succeed(refused(job)(error))),
            onSuccess: (row) => Effect.succeed({ _tag: "Prepared" as const, job, row })
          }),
        { concurrency: 4 }
      )
      const stored = yield* insert(prepared.flatMap((one) => (one._tag === "Prepared" ? [one.row] : [])))
      return yield* Effect.forEach(prepared, (one): Effect.Effect<StartOutcome> =>
        one._tag === "Prepared"
          ? Effect.match(same(one.row, stored.get(one.job.key)), {
              onFailure: refused(one.job),
              onSuccess: started(one.job)
            })
          : Effect.succeed(one)
      )
    })

  /** Cancels the Assembly of an ended attempt, and fails if this Assembly may still run. */
  const checkEnded = Effect.fnUntraced(function* (row: Store.Row) {
    const { attempt, key } = row
    const execution = yield* executionOf(row)
    const assemblyId = yield* Effect.option(derive.assemblyId(row, execution))
    yield* Canceling.cancel(derive, row, execution).pipe(
      Effect.retry(Canceling.tries),
      Effect.timeout(patience),
      Effect.mapError((error) => {
        const failure = Failure.of(Cause.fail(error), Option.getOrUndefined(assemblyId))
        return new AssemblyMayRun({ key, attempt, failure })
      })
    )
  })

  /** The encoded job of the next attempt: the stored job with `changes`. */
  const changed = Effect.fnUntraced(function* (row: Store.Row, changes: Changes) {
    const job = yield* JobAtRest.decode(row)
    if (changes.params === undefined && changes.files === undefined) return { text: row.job, files: job.files }
    const next = { key: row.key, params: changes.params ?? job.params, files: changes.files ?? job.files }
    return yield* JobAtRest.encode("Durable.retry", next, upload)
  })

  /**
   * Queues the next attempt of a job, with the current sizes and identities of its sources. The next attempt is queued
   * only after the service has confirmed that the Assembly of the last attempt has ended.
   */
  const retry = (key: string, changes: Changes = {}): Effect.Effect<Summary, RetryError, Services | AssemblyClient> =>
    Effect.gen(function* () {
      const row = yield* reading.found(key)
      const { attempt, state } = row
      if (state !== "Failed" && state !== "Canceled") return yield* Effect.fail(new NotRetryable({ key, state }))
      const next = yield* toRow({ key, attempt: attempt + 1 }, yield* changed(row, changes))
      yield* checkEnded(row)
      const stored = yield* store.retry(attempt, next)
      yield* queued
      // If `store.retry` returned no row, another caller has retried the same attempt, maybe with other changes.
      return yield* same(next, Result.succeed(Option.isSome(stored) ? stored.value : yield* reading.found(key)))
    })

  return { start, startMany, retry }
}
