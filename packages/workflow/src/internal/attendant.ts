/**
 * The attendant connects the table of jobs with the workflow engine: it starts queued jobs, carries out cancellations
 * and wakes the callers of `Durable.await`. The attendant reads the table at an interval, and at once after a change by
 * this process.
 */
import * as EntityId from "effect/cluster/EntityId"
import { Sharding } from "effect/cluster/Sharding"
import * as ShardId from "effect/cluster/ShardId"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { StoreFailed } from "../DurableError.ts"
import { executionOf, JobWorkflow } from "./jobWorkflow.ts"
import * as Outage from "./outage.ts"
import * as Store from "./store.ts"

/** How often the table is read, to find the changes of other processes. */
const interval = "500 millis"

/**
 * The shards of this process are found by trying all numbers up to this one, because `Sharding` does not tell how many
 * shards exist.
 */
const maxShard = 1024

/** How many keys are read with one statement. */
const maxKeys = 500

/**
 * How long the engine may take from `engine.execute` until the activity of the job asks for a place, in milliseconds.
 */
const delivery = 5000

/**
 * - `window`: the maximum number of queued jobs that the engine has at the same time, and the maximum number of
 *   cancellations at the same time. All other queued jobs and cancellations wait in the table. Jobs that pause after a
 *   failure do not count.
 * - `refresh`: reads what other runners have stored about the service (see `quota.ts`).
 * - `cancel`: carries out a cancellation.
 * - `stage`: returns `Taking` if an execution has a place or waits for a place, and `Pausing` if it pauses after a
 *   failure. `stage` returns undefined if the execution does not run in this process.
 */
export interface Options {
  readonly store: Store.Store
  readonly window: number
  readonly refresh: Effect.Effect<void, StoreFailed>
  readonly cancel: (attempt: Store.Attempt, execution: string) => Effect.Effect<void, never, AssemblyClient>
  readonly stage: (execution: string) => "Taking" | "Pausing" | undefined
}

/** Waits for the end of attempts. The Map has one Deferred for each caller that waits for a key. */
export const makeWaiting = (store: Store.Store) => {
  const waiting = new Map<string, Set<Deferred.Deferred<void>>>()

  /** Wakes the callers that wait for a key. */
  const wake = (key: string): Effect.Effect<void> =>
    Effect.sync(() => {
      for (const one of waiting.get(key) ?? []) Deferred.doneUnsafe(one, Exit.void)
    })

  /** Waits until {@link wake} is called with the key. */
  const wait = (key: string): Effect.Effect<void> =>
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
      const ended = rows.filter(([, row]) => Result.isFailure(row) || Store.hasEnded(row.success))
      yield* Effect.forEach(ended, ([key]) => wake(key), { discard: true })
    }
  })

  /** Reads the table at an interval, until the scope closes. */
  const loop = check.pipe(Effect.ignore, Effect.delay(interval), Effect.forever)

  return { wake, wait, loop }
}

export type Waiting = ReturnType<typeof makeWaiting>

/**
 * Fails if the cluster has more shards than this package can find. `Sharding` does not tell their number, so the shards
 * of many ids are looked at: with 1 shard too many, 16,384 ids miss it with a probability below 1 in a million.
 */
export const checkShards = Effect.gen(function* () {
  const sharding = yield* Sharding
  for (let id = 0; id < 16 * maxShard; id++) {
    if (shardIdOf(sharding, String(id)).id > maxShard) {
      return yield* new InvalidRequest({
        operation: "Durable",
        issues: [{ path: ["shardsPerGroup"], message: `Expected at most ${maxShard} shards in a group` }]
      })
    }
  }
})

/** Starts the queued jobs in the shards of this process, and carries out the cancellations in these shards. */
export const makeRunning = Effect.fnUntraced(function* ({ cancel, refresh, stage, store, window }: Options) {
  const sharding = yield* Sharding
  const engine = yield* WorkflowEngine
  const outage = yield* Outage.Outage
  const changed = yield* Latch.make(true)
  /** The cancellations that are carried out now. */
  const canceling = yield* FiberMap.make<string>()
  /**
   * The executions that were given to the engine and are still `Queued` in the table, each with the time when it was
   * given.
   */
  let given = new Map<string, number>()
  /** Whether the last read may have stopped before the end of the queue. */
  let isFull = false
  /**
   * The last cancellation that was read. The next read begins after this row, so that slow cancellations do not block
   * later ones.
   */
  let lastCanceling: Store.Place | undefined
  /** Whether the next read includes the cancellations. */
  let all = true

  const ownShards = (): ReadonlyArray<number> =>
    Array.from({ length: maxShard }, (_, index) => index + 1).filter((id) =>
      sharding.hasShardId(ShardId.make("default", id))
    )

  const give = ({ attempt, key }: Store.Attempt, executionId: string) =>
    engine.execute(JobWorkflow, { executionId, payload: { key, attempt }, discard: true })

  const startQueued = Effect.fnUntraced(function* (shards: ReadonlyArray<number>) {
    const now = yield* Clock.currentTimeMillis
    const still = new Map<string, number>()
    let waiting = 0
    let after: Store.Place | undefined
    do {
      const page: Effect.Success<ReturnType<typeof store.inShards>> = yield* store.inShards({
        state: "Queued",
        shards,
        limit: window,
        after
      })
      after = page.next
      for (const attempt of page.attempts) {
        const execution = yield* executionOf(attempt)
        const since = given.get(execution)
        if (since === undefined) yield* give(attempt, execution)
        still.set(execution, since ?? now)
        const at = stage(execution)
        if (at === "Taking" || (at === undefined && now - (since ?? now) < delivery)) waiting++
      }
    } while (after !== undefined && waiting < window)
    given = still
    isFull = after !== undefined
  })

  const cancelAll = Effect.fnUntraced(function* (shards: ReadonlyArray<number>) {
    const limit = window - (yield* FiberMap.size(canceling))
    if (limit <= 0) return
    const { attempts, next } = yield* store.inShards({ state: "Canceling", shards, limit, after: lastCanceling })
    lastCanceling = next
    for (const attempt of attempts) {
      const execution = yield* executionOf(attempt)
      // The service may be slow, so the queue does not wait for the cancellation.
      yield* FiberMap.run(canceling, execution, cancel(attempt, execution), { onlyIfMissing: true })
    }
  })

  /** Reads the table until the scope closes. */
  const loop = Effect.gen(function* () {
    const isTime = Option.isNone(yield* Effect.timeoutOption(changed.await, interval))
    const readsAll = isTime || all
    changed.closeUnsafe()
    all = false
    if (isTime) yield* refresh
    const shards = ownShards()
    yield* startQueued(shards)
    if (readsAll) yield* cancelAll(shards)
  }).pipe(
    Effect.catchCause((cause) => Outage.reportCause(outage, "read the queue", cause)),
    Effect.forever
  )

  return {
    loop,
    /** Run this after a job was queued. */
    change: Effect.asVoid(changed.open),
    /** Run this after a cancellation was stored. */
    changeAll: Effect.suspend(() => {
      all = true
      return Effect.asVoid(changed.open)
    }),
    /** Run this after a job has left the queue. Reads the table if the queue may contain more jobs. */
    refill: Effect.suspend(() => (isFull ? Effect.asVoid(changed.open) : Effect.void))
  }
})

/** The shard of an execution. The engine gives each shard to one runner, which runs the executions of the shard. */
export const shardIdOf = (sharding: Sharding["Service"], execution: string): ShardId.ShardId =>
  sharding.getShardId(EntityId.make(execution), "default")

/**
 * The number of the shard of an execution. The row of the job stores this number, so that the runner of the shard finds
 * the job.
 */
export const shardOf = (execution: string) => Effect.map(Sharding, (sharding) => shardIdOf(sharding, execution).id)
