/** Reads jobs, and waits for their end. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import { type InvalidSecret, JobCanceled, JobFailed, JobUnknown, type StoreFailed } from "../DurableError.ts"
import { Filter, type Status, type Summary } from "../DurableJob.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as Metrics from "./metrics.ts"
import * as Journal from "./journal.ts"
import * as Row from "./row.ts"
import type { Secrets } from "./secrets.ts"
import type { Store } from "./store.ts"
import * as StoreError from "./storeError.ts"
import * as Runner from "./runner.ts"

/**
 * The errors of `Durable.await`: the job failed or was canceled, or the job or its Status cannot be read.
 *
 * @since 0.1.0
 * @category errors
 */
export type AwaitError =
  | JobUnknown
  | JobFailed
  | JobCanceled
  | StoreFailed
  | InvalidSecret
  | Effect.Error<ReturnType<typeof Assemblies.get>>

/**
 * The errors of a list: the filter is invalid, or the database fails.
 *
 * @since 0.1.0
 * @category errors
 */
export type ListError = InvalidRequest | StoreFailed

/**
 * What became of one job of `Durable.retryAll` or `Durable.cancelAll`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Steered<E> {
  readonly key: string
  readonly result: Result.Result<Summary, E>
}

/** A mistyped condition is refused, because without it more jobs would be selected. */
const decodeFilter = SchemaParser.decodeUnknownEffect(Filter, { errors: "all", onExcessProperty: "error" })

/** How many jobs are retried or canceled at the same time. */
const steeredAtOnce = 8

/** Changes the jobs of a list. */
export const steer = <E, E2>(
  jobs: Stream.Stream<Summary, E>,
  change: (key: string) => Effect.Effect<Summary, E2>
): Stream.Stream<Steered<E2>, E> =>
  Stream.mapEffect(jobs, ({ key }) => Effect.map(Effect.result(change(key)), (result) => ({ key, result })), {
    concurrency: steeredAtOnce
  })

/** The time limit of the request for the number of stored bytes. */
const patience = "10 seconds"

/** How many jobs a list reads with one statement. */
const pageSize = 100

/** How many keys are read with one statement. */
const maxKeys = 500

export const make = (store: Store, secrets: Secrets) => {
  /** One Deferred for each caller that waits for a key. */
  const waiting = new Map<string, Set<Deferred.Deferred<void>>>()

  /** Wakes the callers that wait for a key. */
  const wake = (key: string): Effect.Effect<void> =>
    Effect.sync(() => {
      for (const one of waiting.get(key) ?? []) Deferred.doneUnsafe(one, Exit.void)
    })

  /** Waits until {@link wake} is called with the key. */
  const woken = (key: string): Effect.Effect<void> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const one = Deferred.makeUnsafe<void>()
        waiting.set(key, (waiting.get(key) ?? new Set()).add(one))
        return one
      }),
      Deferred.await,
      (one) =>
        Effect.sync(() => {
          const all = waiting.get(key)
          all?.delete(one)
          if (all?.size === 0) waiting.delete(key)
        })
    )

  /** Wakes the callers that wait for a job that has ended in another process. */
  const check: Effect.Effect<void, StoreFailed> = Effect.gen(function* () {
    const keys = [...waiting.keys()]
    for (let start = 0; start < keys.length; start += maxKeys) {
      const rows = yield* store.findAll(keys.slice(start, start + maxKeys))
      // A caller that waits for a damaged row wakes, and fails with the error of the row.
      const ended = rows.filter(([, row]) => Result.isFailure(row) || Row.hasEnded(row.success))
      yield* Effect.forEach(ended, ([key]) => wake(key), { discard: true })
    }
  })

  /** Reads the table at an interval, until the scope closes. */
  const loop = check.pipe(Effect.ignore, Effect.delay(Runner.interval), Effect.forever)

  const found = (key: string): Effect.Effect<Row.Row, JobUnknown | StoreFailed> =>
    Effect.flatMap(
      JobAtRest.isKey(key) ? store.find(key) : Effect.succeedNone,
      Option.match({ onNone: () => Effect.fail(new JobUnknown({ key })), onSome: Effect.succeed })
    )

  const statusOf = (row: Row.Row) =>
    Effect.gen(function* () {
      const entry = yield* Journal.assembly(secrets, row)
      if (Option.isNone(entry)) return yield* StoreError.damaged(row.key, ["assembly"])
      const { assemblyId, uploads } = entry.value
      const status = yield* Assemblies.get(assemblyId)
      return uploads === undefined ? status : Hosting.shareOf(status, uploads)
    })

  /** Waits until the attempt has ended, and returns its row. */
  const ended = (key: string): Effect.Effect<Row.Row, JobUnknown | StoreFailed> =>
    Effect.gen(function* () {
      for (;;) {
        // The wait begins before the row is read, so that an end of the job right after the read is not missed.
        const end = yield* Effect.forkScoped(woken(key), { startImmediately: true })
        const row = yield* found(key)
        if (Row.hasEnded(row)) return row
        yield* Fiber.join(end)
      }
    }).pipe(Effect.scoped)

  /** Waits until a job has ended, and reads the Status of its Assembly. */
  const wait = (key: string): Effect.Effect<Assembly.Status, AwaitError, AssemblyClient> =>
    Effect.gen(function* () {
      const row = yield* ended(key)
      const { attempt, failure = { reason: "Unknown", message: "no reason is stored" } } = row
      if (row.state === "Canceled") return yield* Effect.fail(new JobCanceled({ key, attempt }))
      if (row.state === "Failed") return yield* Effect.fail(new JobFailed({ key, attempt, failure }))
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

  const status = (key: string): Effect.Effect<Status, JobUnknown | StoreFailed, AssemblyClient> =>
    Effect.gen(function* () {
      const row = yield* found(key)
      // A job waits with its pack.
      const { holder = key } = row
      const { waiting: why } = Option.getOrElse(holder === key ? Option.none() : yield* store.find(holder), () => row)
      const stored = yield* storedBytes(row).pipe(
        Effect.timeout(patience),
        Effect.orElseSucceed(() => undefined)
      )
      return { ...Row.toSummary(row), waiting: why, stored }
    })

  /** Lists the jobs. The error of a damaged row comes after all other rows. */
  const list = (filter: Filter = {}): Stream.Stream<Summary, ListError> =>
    Stream.unwrap(
      Effect.mapBoth(decodeFilter(filter), {
        onFailure: (issue) => Input.invalidRequest("Durable.list", issue),
        onSuccess: pages
      })
    )

  const pages = (filter: Filter): Stream.Stream<Summary, StoreFailed> =>
    Stream.suspend(() => {
      let damaged: StoreFailed | undefined
      return Stream.paginate(filter.after, (after) =>
        Effect.map(store.page({ ...filter, after }, pageSize), ({ next, rows }) => {
          damaged ??= rows.find(Result.isFailure)?.failure
          return [
            rows.filter(Result.isSuccess).map(({ success }) => Row.toSummary(success)),
            Option.fromUndefinedOr(next)
          ]
        })
      ).pipe(Stream.concat(Stream.suspend(() => (damaged === undefined ? Stream.empty : Stream.fail(damaged)))))
    })

  const counts = Effect.tap(store.counts, Metrics.counted)

  return { wake, loop, found, wait, status, list, counts }
}

export type Reading = ReturnType<typeof make>
