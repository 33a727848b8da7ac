/**
 * The attendant connects the table of jobs with the workflow engine: it starts queued jobs, carries out cancellations
 * and wakes the callers of `Durable.await`. The attendant reads the table at an interval, and at once after a change by
 * this process.
 */
import * as EntityId from "effect/cluster/EntityId"
import { Sharding } from "effect/cluster/Sharding"
import * as ShardId from "effect/cluster/ShardId"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type { StoreFailed } from "../DurableError.ts"
import { executionOf, JobWorkflow } from "./jobWorkflow.ts"
import * as Store from "./store.ts"

/** How often the table is read for changes of other processes. */
const interval = "500 millis"

/**
 * The shards of this process are found by trying all numbers up to this one, because `Sharding` does not tell how many
 * shards exist.
 */
const maxShard = 1024

/** How many keys are read with one statement. */
const maxKeys = 500

/**
 * - `window`: the maximum number of queued jobs that the engine has at the same time. The other jobs stay in the table.
 * - `cancel`: carries out a cancellation.
 */
export interface Options {
  readonly store: Store.Store
  readonly window: number
  readonly cancel: (attempt: Store.Attempt, execution: string) => Effect.Effect<void, never, AssemblyClient>
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
      yield* Effect.forEach(rows.filter(Store.hasEnded), ({ key }) => wake(key), { discard: true })
    }
  })

  /** Reads the table at an interval, until the scope closes. */
  const loop = check.pipe(Effect.ignore, Effect.delay(interval), Effect.forever)

  return { wake, wait, loop }
}

export type Waiting = ReturnType<typeof makeWaiting>

/** Starts the queued jobs in the shards of this process, and carries out the cancellations in these shards. */
export const makeRunning = Effect.fnUntraced(function* ({ cancel, store, window }: Options) {
  const sharding = yield* Sharding
  const engine = yield* WorkflowEngine
  const changed = yield* Latch.make(true)
  /** The cancellations that are carried out now. */
  const canceling = yield* FiberMap.make<string>()
  /** The executions that were given to the engine, and are still queued in the table. */
  let given = new Set<string>()
  /** Whether the next read includes the cancellations. */
  let all = true

  const ownShards = (): ReadonlyArray<number> =>
    Array.from({ length: maxShard }, (_, index) => index + 1).filter((id) =>
      sharding.hasShardId(ShardId.make("default", id))
    )

  const give = (attempt: Store.Attempt, executionId: string) =>
    engine.execute(JobWorkflow, { executionId, payload: attempt, discard: true })

  const startQueued = Effect.fnUntraced(function* (shards: ReadonlyArray<number>) {
    const still = new Set<string>()
    for (const attempt of yield* store.inShards("Queued", shards, window)) {
      const execution = yield* executionOf(attempt)
      if (!given.has(execution)) yield* give(attempt, execution)
      still.add(execution)
    }
    given = still
  })

  const cancelAll = Effect.fnUntraced(function* (shards: ReadonlyArray<number>) {
    const attempts = yield* store.inShards("Canceling", shards, window)
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
    const shards = ownShards()
    yield* startQueued(shards)
    if (readsAll) yield* cancelAll(shards)
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("The queue of durable jobs could not be read", cause)),
    Effect.forever
  )

  return {
    loop,
    /** To be run after a job was queued. */
    change: Effect.asVoid(changed.open),
    /** To be run after a cancellation was stored. */
    changeAll: Effect.suspend(() => {
      all = true
      return Effect.asVoid(changed.open)
    }),
    /** To be run after a job has left the queue: reads the table if more jobs may be in the queue. */
    refill: Effect.suspend(() => (given.size < window ? Effect.void : Effect.asVoid(changed.open)))
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
