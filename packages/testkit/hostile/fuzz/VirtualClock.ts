/**
 * A clock that advances only when nothing else can run. So hours of waiting take no time, and timers keep their order.
 */
import { type Clock, Duration, Effect } from "effect"
import type { Idle } from "../../time/Idle.ts"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

export const make = (start: number, idle: Idle) => {
  let now = start
  let pumping = false
  const sleepers = new Set<Sleeper>()

  const wakeNext = () => {
    let next: Sleeper | undefined
    for (const sleeper of sleepers) if (next === undefined || sleeper.at < next.at) next = sleeper
    if (next === undefined) return
    sleepers.delete(next)
    now = Math.max(now, next.at)
    next.wake()
  }

  const pump = async (): Promise<void> => {
    pumping = true
    while (sleepers.size > 0) {
      await Effect.runPromise(idle.settled)
      wakeNext()
    }
    pumping = false
  }

  const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const sleeper: Sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
      sleepers.add(sleeper)
      if (!pumping) void pump()
      return Effect.sync(() => sleepers.delete(sleeper))
    })

  const nanos = () => BigInt(Math.trunc(now)) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep
  }
  return clock
}
