/** Stores jobs: checks them, opens their sources, and queues those that the table does not have. */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type { SourceFailed } from "@assembly-effect/tus/UploadSource"
import type * as Arr from "effect/Array"
import type { Sharding } from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { JobConflict, type JobUnknown, NotRetryable, type StoreFailed } from "../DurableError.ts"
import type { Job, Summary } from "../DurableJob.ts"
import * as Attendant from "./attendant.ts"
import type { UploadOptions } from "../Durable.ts"
import * as JobAtRest from "./jobAtRest.ts"
import { executionOf } from "./jobWorkflow.ts"
import type * as Reading from "./reading.ts"
import * as Sources from "./sources.ts"
import * as Store from "./store.ts"

type StartError = ApiError.InvalidRequest | SourceFailed | JobConflict | StoreFailed
type Services = Sharding | FileSystem.FileSystem

/** `queued`: called after jobs were queued. */
interface Options {
  readonly store: Store.Store
  readonly reading: Reading.Reading
  readonly upload: UploadOptions
  readonly queued: Effect.Effect<void>
}

/** Fails if the stored job with this key differs from the given job. */
const same = (key: string, job: string, row: Store.Row | undefined): Effect.Effect<Summary, JobConflict> =>
  row === undefined || row.job !== job ? Effect.fail(new JobConflict({ key })) : Effect.succeed(Store.toSummary(row))

export const make = ({ queued, reading, store, upload }: Options) => {
  /** Checks a job, opens its sources, and makes its row. */
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

  /** Stores jobs with one statement. */
  const startMany = (
    jobs: Arr.NonEmptyReadonlyArray<Job>
  ): Effect.Effect<ReadonlyArray<Summary>, StartError, Services> =>
    Effect.gen(function* () {
      const rows = yield* Effect.forEach(jobs, prepare, { concurrency: 4 })
      const stored = new Map((yield* store.insert(rows)).map((row) => [row.key, row]))
      yield* queued
      const known = rows.filter(({ key }) => !stored.has(key)).map(({ key }) => key)
      for (const row of yield* store.findAll(known)) stored.set(row.key, row)
      return yield* Effect.forEach(rows, ({ job, key }) => same(key, job, stored.get(key)))
    })

  /** Stores a job. If the job is already stored, its sources are not opened again. */
  const start = (job: Job): Effect.Effect<Summary, StartError, Services> =>
    Effect.gen(function* () {
      const text = yield* JobAtRest.encode(job, upload)
      const known = yield* store.find(job.key)
      if (Option.isSome(known)) return yield* same(job.key, text, known.value)
      const [summary] = yield* startMany([job])
      return summary ?? (yield* Effect.fail(new JobConflict({ key: job.key })))
    })

  /** Queues the next attempt of a job, with its sources as they are now. */
  const retry = (
    key: string
  ): Effect.Effect<Summary, JobUnknown | NotRetryable | StoreFailed | SourceFailed, Services> =>
    Effect.gen(function* () {
      const row = yield* reading.found(key)
      const { state } = row
      if (state !== "Failed" && state !== "Canceled") return yield* Effect.fail(new NotRetryable({ key, state }))
      const { files } = yield* JobAtRest.decode(row.job)
      const opened = yield* Sources.openAll(files)
      const execution = yield* executionOf({ key, attempt: row.attempt + 1 })
      const shard = yield* Attendant.shardOf(execution)
      const next = yield* store.retry(
        row,
        opened.map(({ atRest }) => atRest),
        shard
      )
      yield* queued
      // If no row was changed, another process has retried the same attempt.
      return Store.toSummary(Option.isSome(next) ? next.value : yield* reading.found(key))
    })

  return { start, startMany, retry }
}
