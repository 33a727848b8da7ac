/** A runner sends nothing for a shard that it may have lost. */
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Lease from "../src/internal/lease.ts"
import * as Places from "../src/internal/places.ts"

const own = RunnerAddress.make("own", 0)
const [first, second] = [ShardId.make("default", 1), ShardId.make("default", 2)]

/** A storage whose answers the test chooses, and the lease that watches it. */
const watched = Effect.gen(function* () {
  const memory = yield* RunnerStorage.makeMemory
  let held: Array<ShardId.ShardId> = []
  const answering = Effect.sync(() => held)
  const { held: await_, storage } = yield* Lease.make(Duration.seconds(12)).pipe(
    Effect.provideService(RunnerStorage.RunnerStorage, {
      ...memory,
      acquire: () => answering,
      refresh: () => answering
    })
  )
  /** Whether the lease lets somebody go on at once. */
  const isHeld = (shard: ShardId.ShardId) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(await_(shard), { startImmediately: true })
      yield* Effect.yieldNow
      const isDone = fiber.pollUnsafe() !== undefined
      yield* Fiber.interrupt(fiber)
      return isDone
    })
  return {
    storage,
    await: await_,
    isHeld,
    answer: (shards: ReadonlyArray<ShardId.ShardId>) => {
      held = [...shards]
    }
  }
})

describe("A lease", () => {
  it.effect("lasts from the last refresh until the expiry", () =>
    Effect.gen(function* () {
      const { answer, isHeld, storage } = yield* watched
      assert.isFalse(yield* isHeld(first))
      answer([first, second])
      yield* storage.acquire(own, [first, second])
      assert.isTrue(yield* isHeld(first))
      yield* TestClock.adjust("11 seconds")
      assert.isTrue(yield* isHeld(first))
      yield* storage.refresh(own, [first, second])
      yield* TestClock.adjust("11 seconds")
      assert.isTrue(yield* isHeld(second))
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* isHeld(second))
    })
  )

  it.effect("that has expired is waited for until the next refresh, and for ever if the shard is lost", () =>
    Effect.gen(function* () {
      const { answer, await: held, isHeld, storage } = yield* watched
      answer([first, second])
      yield* storage.acquire(own, [first, second])
      yield* TestClock.adjust("1 minute")
      const kept = yield* Effect.forkChild(held(first), { startImmediately: true })
      const lost = yield* Effect.forkChild(held(second), { startImmediately: true })
      answer([first])
      yield* storage.refresh(own, [first, second])
      yield* Fiber.join(kept)
      yield* TestClock.adjust("1 second")
      assert.isUndefined(lost.pollUnsafe())
      assert.isFalse(yield* isHeld(second))
      yield* Fiber.interrupt(lost)
    })
  )

  it.effect("is as old as the question, not as the answer", () =>
    Effect.gen(function* () {
      const { answer, isHeld, storage } = yield* watched
      answer([first])
      const slow = yield* Lease.make(Duration.seconds(12)).pipe(
        Effect.provideService(RunnerStorage.RunnerStorage, {
          ...storage,
          acquire: () => Effect.as(Effect.sleep("11 seconds"), [second])
        })
      )
      const acquiring = yield* Effect.forkChild(slow.storage.acquire(own, [second]), { startImmediately: true })
      yield* TestClock.adjust("11 seconds")
      yield* Fiber.join(acquiring)
      yield* slow.held(second)
      yield* TestClock.adjust("1 second")
      const late = yield* Effect.forkChild(slow.held(second), { startImmediately: true })
      assert.isUndefined(late.pollUnsafe())
      yield* Fiber.interrupt(late)
      assert.isFalse(yield* isHeld(first))
    })
  )

  it.effect("ends with the release of the shard", () =>
    Effect.gen(function* () {
      const { answer, isHeld, storage } = yield* watched
      answer([first, second])
      yield* storage.acquire(own, [first, second])
      yield* storage.release(own, first)
      assert.isFalse(yield* isHeld(first))
      assert.isTrue(yield* isHeld(second))
      yield* storage.releaseAll(own)
      assert.isFalse(yield* isHeld(second))
    })
  )

  it.effect("expires by the clock that has gone further", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let suspended = 0
      const skewed: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + suspended,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe()
      }
      const { answer, isHeld, storage } = yield* Effect.provideService(watched, Clock.Clock, skewed)
      answer([first])
      yield* storage.acquire(own, [first])
      // The machine was suspended: only the time of day went on.
      suspended = 60_000
      assert.isFalse(yield* isHeld(first))
      // Somebody set the time of day back: the other clock goes on.
      suspended = -60_000
      assert.isTrue(yield* isHeld(first))
      yield* TestClock.adjust("12 seconds")
      assert.isFalse(yield* isHeld(first))
    })
  )
})

describe("The places of a runner", () => {
  it.effect("are enough for what another runner left, although all are taken", () =>
    Effect.gen(function* () {
      const places = Places.make(2)
      const end = yield* Deferred.make<void>()
      let running = 0
      const use = (isTakenOver: boolean) =>
        places(isTakenOver, (files) =>
          files.withPermit(
            Effect.andThen(
              Effect.sync(() => running++),
              Deferred.await(end)
            )
          )
        ).pipe(Effect.forkChild({ startImmediately: true }))
      const started: Array<Fiber.Fiber<void>> = []
      for (const [isTakenOver, expected] of [
        [false, 1],
        [true, 2],
        // All places are taken.
        [false, 2],
        [true, 3],
        [true, 4],
        [true, 4]
      ] as const) {
        started.push(yield* use(isTakenOver))
        assert.strictEqual(running, expected)
      }
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.joinAll(started)
      assert.strictEqual(running, 6)
    })
  )
})
