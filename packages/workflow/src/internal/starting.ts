/** Stores jobs: checks the jobs, opens their sources, and queues the jobs whose keys are not in the table. */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { RequestOptions } from "@assembly-effect/tus/Upload"
import type { SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { AssemblyMayRun, JobConflict, type JobUnknown, NotRetryable, type StoreFailed } from "../DurableError.ts"
import type { Changes, Job, Summary } from "../DurableJob.ts"
import * as Canceling from "./canceling.ts"
import * as Failure from "./failure.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as Journal from "./journal.ts"
import * as Packs from "./packs.ts"
import type * as Reading from "./reading.ts"
import * as Row from "./row.ts"
import type { Secrets } from "./secrets.ts"
import * as Sources from "./sources.ts"
import type { Store } from "./store.ts"

/**
 * The errors of `Durable.start`: the job is invalid, a source cannot be read, another job has the same key, or the
 * database fails. A refused job is not stored. After `StoreFailed`, the job may be stored, because the response of the database may be lost: repeat the call.
 *
 * @since 0.1.0
 * @category errors
 */
export type StartError = InvalidRequest | SourceFailed | JobConflict | StoreFailed

/**
 * What `Durable.startAll` did with one job. `Started`: the job is stored. `Known`: an earlier call has stored it, and
 * `summary` shows how far it is. `Refused`: the job is not stored, and `error` says why. `error` is `StoreFailed` if the
 * stored job with this key is damaged.
 *
 * @since 0.1.0
 * @category models
 */
export type StartOutcome =
  | { readonly _tag: "Started" | "Known"; readonly job: Job; readonly summary: Summary }
  | { readonly _tag: "Refused"; readonly job: Job; readonly error: StartError }

const All = Schema.Struct({ packing: Schema.optionalKey(Hosting.PackingOptions) })

/**
 * - `packing`: whether jobs with equal params share an Assembly, see `AssemblyUpload.AllOptions`. `Durable.retry` starts
 *   the next attempt of a job in an Assembly of its own.
 *
 * @since 0.1.0
 * @category options
 */
export type AllOptions = Schema.Codec.Encoded<typeof All>

type Packing = NonNullable<typeof All.Type.packing>

export const decodeAll = Rules.decoder("Durable.startAll", All)

/**
 * The errors of `Durable.retry`. If the call fails, it has not queued another attempt, except perhaps after
 * `StoreFailed`.
 *
 * @since 0.1.0
 * @category errors
 */
export type RetryError = StartError | JobUnknown | NotRetryable | AssemblyMayRun

/** `queued`: called after jobs were queued. */
interface Options {
  readonly store: Store
  readonly secrets: Secrets
  readonly reading: Reading.Reading
  readonly upload: RequestOptions
  readonly queued: Effect.Effect<void>
}

/** How long a retry waits until the service confirms that the Assembly of the last attempt has ended. */
const patience = "30 seconds"

/** A job that a caller starts, with its sources as they are now. `pack` is set if the job can share an Assembly. */
interface Now extends JobAtRest.Text {
  readonly key: string
  readonly pack?: string | undefined
  readonly opened: ReadonlyArray<Result.Result<Sources.Opened, SourceFailed>>
}

/**
 * Returns the summary of the stored job `found`. Fails if the job that the caller starts has other params or files, if a
 * file has changed since the stored job was queued, or if no job is stored because a source cannot be read.
 */
const same = (
  { files, key, opened, text }: Now,
  found: Result.Result<Row.Row, StoreFailed> | undefined
): Result.Result<Summary, JobConflict | StoreFailed | SourceFailed> => {
  if (found === undefined) {
    return Result.fail(opened.find(Result.isFailure)?.failure ?? new JobConflict({ key }))
  }
  return Result.flatMap(found, (row) => {
    if (row.job !== text) return Result.fail(new JobConflict({ key }))
    const changed = Sources.changed(files, row.sources, opened)
    return changed.length === 0 ? Result.succeed(Row.toSummary(row)) : Result.fail(new JobConflict({ key, changed }))
  })
}

export const make = ({ queued, reading, secrets, store, upload }: Options) => {
  const open = (key: string, encoded: JobAtRest.Text) =>
    Effect.map(Sources.openAll(encoded.files), (opened): Now => ({ ...encoded, key, opened }))

  /** The row of a job, or the error of its first source that cannot be read. */
  const toRow = ({ key, opened, pack, text }: Now): Result.Result<Row.NewRow, SourceFailed> =>
    Result.map(Result.all(opened), (all) => ({ key, pack, job: text, sources: all.map(({ atRest }) => atRest) }))

  /**
   * Stores all valid jobs of `jobs` with one statement, and returns the result of each job, and whether it was stored. A
   * job whose key is already in the table is not stored. Then a source that cannot be read is not an error.
   */
  const storeAll = (jobs: ReadonlyArray<Job>, packing?: Packing) =>
    Effect.gen(function* () {
      const prepare = Effect.fnUntraced(function* (job: Job) {
        const encoded = yield* JobAtRest.encode("Durable.start", job, upload)
        const now = yield* open(job.key, encoded)
        return packing === undefined ? now : { ...now, pack: yield* Packs.kindOf(packing, encoded.text) }
      })
      const prepared = yield* Effect.forEach(jobs, (job) => Effect.result(prepare(job)), { concurrency: 4 })
      const valid = prepared.flatMap((one) => (Result.isSuccess(one) ? [one.success] : []))
      const rows = valid.map(toRow).flatMap((row) => (Result.isSuccess(row) ? [row.success] : []))
      const stored = new Map<string, Result.Result<Row.Row, StoreFailed>>()
      if (Arr.isReadonlyArrayNonEmpty(rows)) {
        for (const row of yield* store.insert(rows)) stored.set(row.key, Result.succeed(row))
        yield* queued
      }
      const fresh = new Set(stored.keys())
      const known = valid.map(({ key }) => key).filter((key) => !stored.has(key))
      for (const [key, row] of yield* store.findAll(known)) stored.set(key, row)
      return Arr.zip(jobs, prepared).map(([job, one]) => ({
        job,
        // Of two jobs with the same key, the first one was stored.
        isNew: fresh.delete(job.key),
        result: Result.flatMap(one, (now): Result.Result<Summary, StartError> => same(now, stored.get(now.key)))
      }))
    })

  const start = (job: Job): Effect.Effect<Summary, StartError, FileSystem.FileSystem> =>
    Effect.flatMap(storeAll([job]), (all) => Effect.fromResult(Arr.getUnsafe(all, 0).result))

  const startMany = (
    jobs: ReadonlyArray<Job>,
    packing: Packing | undefined
  ): Effect.Effect<ReadonlyArray<StartOutcome>, StoreFailed, FileSystem.FileSystem> =>
    Effect.map(
      storeAll(jobs, packing),
      Arr.map(({ isNew, job, result }) =>
        Result.isSuccess(result)
          ? { _tag: isNew ? "Started" : "Known", job, summary: result.success }
          : { _tag: "Refused", job, error: result.failure }
      )
    )

  /** Cancels the Assembly of an ended attempt, and fails if this Assembly may still run. */
  const checkEnded = Effect.fnUntraced(function* (row: Row.Row) {
    const { attempt, key } = row
    const id = yield* Journal.readableId(secrets, row)
    yield* Canceling.cancel(secrets, row).pipe(
      Effect.timeout(patience),
      Effect.mapError((error) => new AssemblyMayRun({ key, attempt, failure: Failure.of(error, id) }))
    )
  })

  /** The encoded job of the next attempt: the stored job with `changes`. */
  const changed = Effect.fnUntraced(function* (row: Row.Row, changes: Changes) {
    const job = yield* JobAtRest.decode(row)
    if (changes.params === undefined && changes.files === undefined) return { text: row.job, files: job.files }
    const next = { key: row.key, params: changes.params ?? job.params, files: changes.files ?? job.files }
    return yield* JobAtRest.encode("Durable.retry", next, upload)
  })

  /**
   * Queues the next attempt of a job, with the current sizes and identities of its sources. The next attempt is queued
   * only after the service has confirmed that the Assembly of the last attempt has ended.
   */
  const retry = (
    key: string,
    changes: Changes = {}
  ): Effect.Effect<Summary, RetryError, FileSystem.FileSystem | AssemblyClient> =>
    Effect.gen(function* () {
      const row = yield* reading.found(key)
      const { attempt, state } = row
      if (state !== "Failed" && state !== "Canceled") return yield* Effect.fail(new NotRetryable({ key, state }))
      const next = yield* open(key, yield* changed(row, changes))
      const newRow = yield* Effect.fromResult(toRow(next))
      yield* checkEnded(row)
      const stored = yield* store.retry(attempt, newRow)
      yield* queued
      // If `store.retry` returned no row, another caller has retried the same attempt, maybe with other changes.
      const now = Option.isSome(stored) ? stored.value : yield* reading.found(key)
      return yield* Effect.fromResult(same(next, Result.succeed(now)))
    })

  return { start, startMany, retry }
}
