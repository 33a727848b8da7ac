/**
 * Records how long this runner surely holds the locks of its shards: the lease.
 *
 * After a process was frozen, its locks may have expired, and another runner may send the same upload. The engine of
 * this process detects the loss of the locks only at the next refresh of the locks. Until then, the code that sends
 * bytes must wait for the lease.
 */
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import type { ShardId } from "effect/cluster/ShardId"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"

/**
 * `held` waits until this runner surely holds the lock of a shard. If the runner has lost the shard, the engine
 * interrupts this wait.
 */
export interface Lease {
  readonly held: (shard: ShardId) => Effect.Effect<void>
}

/**
 * The lease of this runner. By default, `held` never waits, because a runner without other runners always holds its
 * shards.
 */
export const Lease: Context.Reference<Lease> = Context.Reference<Lease>("@assembly-effect/workflow/Lease", {
  defaultValue: () => ({ held: () => Effect.void })
})

/**
 * A moment on two clocks: the time of day (`wall`) and a clock that never goes back (`steady`). Both are needed:
 * `steady` may stop while the machine is suspended, and `wall` goes back if somebody sets the time of day.
 */
interface Moment {
  readonly wall: number
  readonly steady: bigint
}

const now = (clock: Clock.Clock): Moment => ({
  wall: clock.currentTimeMillisUnsafe(),
  steady: clock.monotonicTimeNanosUnsafe()
})

const makeLease = (clock: Clock.Clock, expiry: Duration.Duration) => {
  const expiryMillis = Duration.toMillis(expiry)
  const expiryNanos = BigInt(Math.ceil(expiryMillis)) * 1_000_000n
  /** When the lock of each shard was last confirmed. */
  const confirmed = new Map<string, Moment>()
  let changed = Deferred.makeUnsafe<void>()

  const isHeld = (shard: string): boolean => {
    const since = confirmed.get(shard)
    if (since === undefined) return false
    const { steady, wall } = now(clock)
    return wall - since.wall < expiryMillis && steady - since.steady < expiryNanos
  }

  const held = (shard: ShardId): Effect.Effect<void> => {
    const name = String(shard)
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      isHeld(name) ? Effect.void : Effect.flatMap(Deferred.await(changed), () => wait)
    )
    return wait
  }

  /**
   * Records a response of the database about locks. The runner asked for the locks of the shards `asked`, and the
   * database confirmed the locks of the shards `answered`. The time of a confirmation is the time of the request, not
   * of the response.
   */
  const confirm = (asked: ReadonlyArray<ShardId>, answered: ReadonlyArray<ShardId>, at: Moment) => {
    for (const shard of asked) confirmed.delete(String(shard))
    for (const shard of answered) confirmed.set(String(shard), at)
    const waiting = changed
    changed = Deferred.makeUnsafe<void>()
    Deferred.doneUnsafe(waiting, Exit.void)
  }

  return { held, confirm, forget: (shard: ShardId) => confirmed.delete(String(shard)), clear: () => confirmed.clear() }
}

/** Makes the lease of a runner, and wraps the storage of runners so that each answer about locks updates the lease. */
export const make = Effect.fnUntraced(function* (expiry: Duration.Duration) {
  const storage = yield* RunnerStorage
  const clock = yield* Clock.Clock
  const lease = makeLease(clock, expiry)
  const confirming = <E>(
    shardIds: Iterable<ShardId>,
    ask: (asked: ReadonlyArray<ShardId>) => Effect.Effect<Array<ShardId>, E>
  ) =>
    Effect.suspend(() => {
      const asked = [...shardIds]
      const at = now(clock)
      return Effect.tap(ask(asked), (answered) => Effect.sync(() => lease.confirm(asked, answered, at)))
    })

  const watched = RunnerStorage.of({
    ...storage,
    acquire: (address, shardIds) => confirming(shardIds, (asked) => storage.acquire(address, asked)),
    refresh: (address, shardIds) => confirming(shardIds, (asked) => storage.refresh(address, asked)),
    release: (address, shardId) =>
      Effect.andThen(
        Effect.sync(() => lease.forget(shardId)),
        storage.release(address, shardId)
      ),
    releaseAll: (address) =>
      Effect.andThen(
        Effect.sync(() => lease.clear()),
        storage.releaseAll(address)
      )
  })
  return { storage: watched, held: lease.held }
})

/** Provides the lease of a runner, and the wrapped storage of runners that updates the lease. */
export const layer = (expiry: Duration.Duration): Layer.Layer<RunnerStorage, never, RunnerStorage> =>
  Layer.effectContext(
    Effect.map(make(expiry), ({ held, storage }) =>
      Context.make(RunnerStorage, storage).pipe(Context.add(Lease, { held }))
    )
  )
