/** Reads jobs, and waits for their end. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type InvalidSecret, JobCanceled, JobFailed, JobUnknown, type StoreFailed } from "../DurableError.ts"
import type { State, Status, Summary } from "../DurableJob.ts"
import type * as Attendant from "./attendant.ts"
import type { Derive } from "./derive.ts"
import { executionOf } from "./jobWorkflow.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as Store from "./store.ts"

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

/** The time limit of the request for the number of stored bytes. */
const patience = "10 seconds"

/** How many jobs a list reads with one statement. */
const pageSize = 100

interface Options {
  readonly store: Store.Store
  readonly derive: Derive
  readonly waiting: Attendant.Waiting
}

export const make = ({ derive, store, waiting }: Options) => {
  const found = (key: string): Effect.Effect<Store.Row, JobUnknown | StoreFailed> =>
    Effect.flatMap(
      JobAtRest.isKey(key) ? store.find(key) : Effect.succeedNone,
      Option.match({ onNone: () => Effect.fail(new JobUnknown({ key })), onSome: Effect.succeed })
    )

  const statusOf = (row: Store.Row) =>
    Effect.gen(function* () {
      const execution = yield* executionOf(row)
      return yield* Assemblies.get(yield* derive.assemblyId(row, execution))
    })

  /** Waits until the attempt has ended, and returns its row. */
  const ended = (key: string): Effect.Effect<Store.Row, JobUnknown | StoreFailed> =>
    Effect.gen(function* () {
      for (;;) {
        // The wait begins before the row is read, so that an end of the job right after the read is not missed.
        const woken = yield* Effect.forkScoped(waiting.wait(key), { startImmediately: true })
        const row = yield* found(key)
        if (Store.hasEnded(row)) return row
        yield* Fiber.join(woken)
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
  const storedBytes = Effect.fnUntraced(function* (row: Store.Row) {
    if (row.state === "Completed" || row.state === "Processing") return row.size
    if (row.begins === 0) return 0n
    const { tus_uploads } = yield* statusOf(row)
    const offsets = (tus_uploads ?? []).map(({ offset }) => offset ?? 0)
    if (!offsets.every((offset) => Number.isSafeInteger(offset) && offset >= 0)) return undefined
    return offsets.reduce((sum, offset) => sum + BigInt(offset), 0n)
  })

  const status = (key: string): Effect.Effect<Status, JobUnknown | StoreFailed, AssemblyClient> =>
    Effect.gen(function* () {
      const row = yield* found(key)
      const stored = yield* storedBytes(row).pipe(
        Effect.timeout(patience),
        Effect.orElseSucceed(() => undefined)
      )
      return { ...Store.toSummary(row), stored }
    })

  /** Lists the jobs. The error of a damaged row comes after all other rows. */
  const list = ({ state }: { readonly state?: State | undefined } = {}): Stream.Stream<Summary, StoreFailed> =>
    Stream.suspend(() => {
      let damaged: StoreFailed | undefined
      return Stream.paginate("", (after) =>
        Effect.map(store.page({ state, after, limit: pageSize }), ({ next, rows }) => {
          damaged ??= rows.find(Result.isFailure)?.failure
          return [
            rows.filter(Result.isSuccess).map(({ success }) => Store.toSummary(success)),
            Option.fromUndefinedOr(next)
          ]
        })
      ).pipe(Stream.concat(Stream.suspend(() => (damaged === undefined ? Stream.empty : Stream.fail(damaged)))))
    })

  return { found, wait, status, list }
}

export type Reading = ReturnType<typeof make>
