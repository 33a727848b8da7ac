/** What callers do with jobs: store, retry and cancel them, read them, and wait for their end. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { SourceFailed } from "@assembly-effect/tus/UploadSource"
import { Array as Arr, Deferred, Effect, Equal, Option, RcMap, Result, Schema, SchemaParser, Stream } from "effect"
import * as DurableError from "../DurableError.ts"
import { Filter, type Job, type Status, type Summary } from "../DurableJob.ts"
import { damaged } from "./database.ts"
import * as Journal from "./journal.ts"
import * as Packs from "./packs.ts"
import * as Row from "./row.ts"
import * as Runner from "./runner.ts"
import * as Sources from "./sources.ts"
import * as Verdict from "./verdict.ts"
import type * as Work from "./work.ts"

/**
 * The errors of `Durable.start`: the job is invalid, a source cannot be read, another job has the same key, or the
 * database fails. A refused job is not stored. After `StoreFailed`, the job may be stored, because the response of the database may be lost: repeat the call.
 *
 * @since 0.1.0
 * @category errors
 */
export type StartError = InvalidRequest | SourceFailed | DurableError.JobConflict | DurableError.StoreFailed

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

const All = Schema.Struct({ packing: Schema.optionalKey(Hosting.Packing.Options) })

/**
 * - `packing`: whether jobs with equal params share an Assembly, see `AssemblyUpload.AllOptions`. `Durable.retry` starts
 *   the next attempt of a job in an Assembly of its own.
 *
 * @since 0.1.0
 * @category options
 */
export type AllOptions = Schema.Codec.Encoded<typeof All>

type Packing = NonNullable<typeof All.Type.packing>

const decodeAll = Rules.decoder("Durable.startAll", All)

/**
 * The errors of `Durable.retry`. If the call fails, it has not queued another attempt, except perhaps after
 * `StoreFailed`.
 *
 * @since 0.1.0
 * @category errors
 */
export type RetryError = StartError | DurableError.JobUnknown | DurableError.NotRetryable | DurableError.AssemblyMayRun

/**
 * The params or the files that the next attempt of a job uses instead of those of the last attempt.
 *
 * @since 0.1.0
 * @category models
 */
export type Changes = Partial<Pick<Job, "params" | "files">>

/**
 * The errors of `Durable.await`: the job failed or was canceled, or the job or its Status cannot be read.
 *
 * @since 0.1.0
 * @category errors
 */
export type AwaitError =
  | DurableError.JobUnknown
  | DurableError.JobFailed
  | DurableError.JobCanceled
  | DurableError.StoreFailed
  | DurableError.InvalidSecret
  | Effect.Error<ReturnType<typeof Assemblies.get>>

/**
 * The errors of a list: the filter is invalid, or the database fails.
 *
 * @since 0.1.0
 * @category errors
 */
export type ListError = InvalidRequest | DurableError.StoreFailed

/** A mistyped condition is refused, because without it more jobs would be selected. */
const decodeFilter = SchemaParser.decodeUnknownEffect(Filter, { errors: "all", onExcessProperty: "error" })

/** The time limit of the request for the number of stored bytes. */
const statusPatience = "10 seconds"

/** How many jobs a list reads, and `startAll` stores, with one statement. */
const pageSize = 100

/** How many keys are read with one statement. */
const maxKeys = 500

/** `wake`: called after jobs were queued, and with true after another change of jobs. */
interface Options extends Pick<Work.Options, "jobs" | "secrets" | "upload"> {
  readonly wake: Runner.Wake
}

/** How long a retry waits until the service confirms that the Assembly of the last attempt has ended. */
const retryPatience = "30 seconds"

/** A job that a caller starts, with its sources as they are now. `pack` is set if the job can share an Assembly. */
interface Now extends Row.Encoded {
  readonly key: string
  readonly pack?: string | undefined
  readonly opened: ReadonlyArray<Result.Result<Sources.Opened, SourceFailed>>
}

/**
 * Returns the summary of the stored job `found`. Fails if the job that the caller starts has other params or files, if a
 * file has changed since the stored job was queued, or if no job is stored because a source cannot be read.
 */
const same = (
  { files, job, key, opened }: Now,
  found: Result.Result<Row.Row, DurableError.StoreFailed> | undefined
): Result.Result<Summary, DurableError.JobConflict | DurableError.StoreFailed | SourceFailed> => {
  if (found === undefined) {
    return Result.fail(opened.find(Result.isFailure)?.failure ?? new DurableError.JobConflict({ key }))
  }
  return Result.flatMap(found, (row) => {
    if (!Equal.equals(row.job, job)) return Result.fail(new DurableError.JobConflict({ key }))
    const changed = Sources.changed(files, row.sources, opened)
    return changed.length === 0
      ? Result.succeed(Row.toSummary(row))
      : Result.fail(new DurableError.JobConflict({ key, changed }))
  })
}

export const make = Effect.fnUntraced(function* ({ jobs, secrets, upload, wake: wakeRunner }: Options) {
  const provided = Effect.provideContext(yield* Effect.context<Runner.Services>())

  /** What ends the wait of all callers that wait for a key. */
  const waiting = yield* RcMap.make({ lookup: (_key: string) => Deferred.make<void>() })

  /** Wakes the callers that wait for a key. */
  const wake = Effect.fnUntraced(function* (key: string) {
    const end = yield* RcMap.getOption(waiting, key)
    if (Option.isNone(end)) return
    yield* RcMap.invalidate(waiting, key)
    yield* Deferred.succeed(end.value, undefined)
  }, Effect.scoped)

  /** Wakes the callers that wait for a job that has ended in another process, until the scope closes. */
  yield* Effect.gen(function* () {
    for (const keys of Arr.chunksOf(yield* RcMap.keys(waiting), maxKeys)) {
      const rows = yield* jobs.findAll(keys)
      // A caller that waits for a damaged row wakes, and fails with the error of the row.
      const ended = rows.filter(([, row]) => Result.isFailure(row) || Row.hasEnded(row.success))
      yield* Effect.forEach(ended, ([key]) => wake(key), { discard: true })
    }
  }).pipe(Effect.ignore, Effect.delay(Runner.interval), Effect.forever, Effect.forkScoped)

  const found = Effect.fnUntraced(function* (key: string) {
    const row = Row.isKey(key) ? yield* jobs.find(key) : undefined
    return row ?? (yield* new DurableError.JobUnknown({ key }))
  })

  const statusOf = Effect.fnUntraced(function* (row: Row.Row) {
    const entry = yield* Journal.assembly(secrets, row)
    if (entry === undefined) return yield* damaged(row.key, ["assembly"])
    const status = yield* Assemblies.get(entry.assemblyId)
    return entry.uploads === undefined ? status : Hosting.shareOf(status, entry.uploads)
  })

  /** Waits until the attempt has ended, and returns its row. */
  const ended = (key: string) =>
    Effect.gen(function* () {
      // The wait begins before the row is read, so that an end of the job right after the read is not missed.
      const end = yield* RcMap.get(waiting, key)
      const row = yield* found(key)
      if (!Row.hasEnded(row)) yield* Deferred.await(end)
      return row
    }).pipe(Effect.scoped, Effect.repeat({ until: Row.hasEnded }))

  /** Waits until a job has ended, and reads the Status of its Assembly. */
  const wait = Effect.fnUntraced(function* (key: string) {
    const row = yield* ended(key)
    const { attempt, failure = { reason: "Unknown", message: "no reason is stored" } } = row
    if (row.state === "Canceled") return yield* new DurableError.JobCanceled({ key, attempt })
    if (row.state === "Failed") return yield* new DurableError.JobFailed({ key, attempt, failure })
    return yield* statusOf(row)
  })

  /** How many bytes of an attempt the service has stored, from the receipts in the Status of its Assembly. */
  const storedBytes = Effect.fnUntraced(function* (row: Row.Row) {
    if (row.state === "Completed" || row.state === "Processing") return row.size
    if (row.assembly === undefined) return 0n
    const { tus_uploads } = yield* statusOf(row)
    const offsets = (tus_uploads ?? []).map(({ offset }) => offset ?? 0)
    if (!offsets.every((offset) => Number.isSafeInteger(offset) && offset >= 0)) return undefined
    return offsets.reduce((sum, offset) => sum + BigInt(offset), 0n)
  })

  const status = Effect.fnUntraced(function* (key: string) {
    const row = yield* found(key)
    // A job waits with its pack.
    const pack = row.holder === undefined ? undefined : yield* jobs.find(row.holder)
    const stored = yield* storedBytes(row).pipe(
      Effect.timeout(statusPatience),
      Effect.orElseSucceed(() => undefined)
    )
    return { ...Row.toSummary(row), waiting: (pack ?? row).waiting, stored } satisfies Status
  })

  /** Lists the jobs. The error of a damaged row comes after all other rows. */
  const list = (filter: Filter = {}) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const wanted = yield* Effect.mapError(decodeFilter(filter), (issue) =>
          Input.invalidRequest("Durable.list", issue)
        )
        let torn: DurableError.StoreFailed | undefined
        const rows = Stream.paginate(wanted.after, (after) =>
          Effect.map(jobs.page({ ...wanted, after }, pageSize), (page) => {
            const [whole, broken] = Arr.separate(page.map(([, row]) => row))
            torn ??= broken[0]
            const next = page.length < pageSize ? Option.none() : Option.map(Arr.last(page), ([key]) => key)
            return [whole.map(Row.toSummary), next]
          })
        )
        return Stream.concat(
          rows,
          Stream.suspend(() => (torn === undefined ? Stream.empty : Stream.fail(torn)))
        )
      })
    )

  const open = (key: string, encoded: Row.Encoded, pack?: string) =>
    Effect.map(Sources.openAll(encoded.files), (opened): Now => ({ ...encoded, key, pack, opened }))

  /** The row of a job, or the error of its first source that cannot be read. */
  const toRow = ({ job, key, opened, pack }: Now): Result.Result<Row.NewRow, SourceFailed> =>
    Result.map(Result.all(opened), (all) => ({ key, pack, job, sources: all.map(({ atRest }) => atRest) }))

  const prepare = Effect.fnUntraced(function* (job: Job, packing: Packing | undefined) {
    const encoded = yield* Row.encodeJob("Durable.start", job, upload)
    return yield* open(job.key, encoded, packing && (yield* Packs.kindOf(packing, encoded.job)))
  })

  /**
   * Stores all valid jobs with one statement. A job whose key is already in the table is not stored. Then a source that
   * cannot be read is not an error.
   */
  const startAll = Effect.fnUntraced(function* (all: Arr.NonEmptyReadonlyArray<Job>, packing?: Packing) {
    const prepared = yield* Effect.forEach(all, (job) => Effect.result(prepare(job, packing)), { concurrency: 4 })
    const valid = Arr.getSuccesses(prepared)
    const rows = Arr.getSuccesses(valid.map(toRow))
    const inserted = Arr.isReadonlyArrayNonEmpty(rows) ? yield* jobs.insert(rows) : []
    if (inserted.length > 0) wakeRunner(false)
    const fresh = new Set(inserted.map(([key]) => key))
    const known = valid.map(({ key }) => key).filter((key) => !fresh.has(key))
    const stored = new Map([...inserted, ...(yield* jobs.findAll(known))])
    return Arr.map(Arr.zip(all, prepared), ([job, one]) =>
      Result.match(
        Result.flatMap(one, (now): Result.Result<Summary, StartError> => same(now, stored.get(now.key))),
        {
          onFailure: (error): StartOutcome => ({ _tag: "Refused", job, error }),
          // Of two jobs with the same key, the first one was stored.
          onSuccess: (summary): StartOutcome => ({ _tag: fresh.delete(job.key) ? "Started" : "Known", job, summary })
        }
      )
    )
  })

  const start = Effect.fnUntraced(function* (job: Job) {
    const [outcome] = yield* startAll([job])
    return outcome._tag === "Refused" ? yield* Effect.fail(outcome.error) : outcome.summary
  })

  /** The encoded job of the next attempt: the stored job with `changes`. */
  const withChanges = Effect.fnUntraced(function* (row: Row.Row, changes: Changes) {
    const job = yield* Row.decodeJob(row)
    if (changes.params === undefined && changes.files === undefined) return { job: row.job, files: job.files }
    const next = { key: row.key, params: changes.params ?? job.params, files: changes.files ?? job.files }
    return yield* Row.encodeJob("Durable.retry", next, upload)
  })

  /**
   * Queues the next attempt of a job, with the current sizes and identities of its sources. The next attempt is queued
   * only after the service has confirmed that the Assembly of the last attempt has ended.
   */
  const retry = Effect.fnUntraced(function* (key: string, changes: Changes = {}) {
    const row = yield* found(key)
    const { attempt, state } = row
    if (state !== "Failed" && state !== "Canceled") return yield* new DurableError.NotRetryable({ key, state })
    const next = yield* open(key, yield* withChanges(row, changes))
    const newRow = yield* Effect.fromResult(toRow(next))
    const id = yield* Journal.readableId(secrets, row)
    yield* Journal.cancel(secrets, row).pipe(
      Effect.timeout(retryPatience),
      Effect.mapError(
        (error) => new DurableError.AssemblyMayRun({ key, attempt, failure: Verdict.failureOf(error, id) })
      )
    )
    const stored = yield* jobs.retry(attempt, newRow)
    wakeRunner(false)
    // If `jobs.retry` returned no row, another caller has retried the same attempt, maybe with other changes.
    const now = stored ?? (yield* found(key))
    return yield* Effect.fromResult(same(next, Result.succeed(now)))
  })

  const cancel = (key: string): Effect.Effect<Summary, DurableError.JobUnknown | DurableError.StoreFailed> =>
    Effect.gen(function* () {
      const canceled = Row.isKey(key) ? yield* jobs.cancel(key) : undefined
      if (canceled === undefined) {
        const row = yield* found(key)
        // In any other state, another caller has retried the job in between, so the new attempt is canceled.
        return Row.hasEnded(row) || row.state === "Canceling" ? Row.toSummary(row) : yield* cancel(key)
      }
      wakeRunner(true)
      yield* wake(key)
      return Row.toSummary(canceled)
    })

  const notified = Effect.fnUntraced(function* (assemblyId: string) {
    if (yield* jobs.notified(yield* secrets.lookups(assemblyId))) wakeRunner(true)
  })

  const service = {
    start: (job: Job) => provided(start(job)),
    startAll: <E, R>(
      all: Stream.Stream<Job, E, R>,
      options: AllOptions = {}
    ): Stream.Stream<StartOutcome, E | InvalidRequest | DurableError.StoreFailed, R> =>
      Stream.unwrap(
        Effect.map(decodeAll(options), ({ packing }) =>
          all.pipe(
            Stream.grouped(pageSize),
            Stream.mapEffect((page) => provided(startAll(page, packing))),
            Stream.flatMap(Stream.fromIterable)
          )
        )
      ),
    await: (key: string) => provided(wait(key)),
    status: (key: string) => provided(status(key)),
    cancel,
    retry: (key: string, changes?: Changes) => provided(retry(key, changes)),
    list,
    counts: jobs.counts,
    notified
  }
  return { service, wake }
})

/** The service behind `Durable`. */
export type Service = Effect.Success<ReturnType<typeof make>>["service"]
