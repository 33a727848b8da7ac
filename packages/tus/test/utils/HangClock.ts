/**
 * A clock that runs with the clock of the machine, and jumps by two minutes when the proxy holds a request. So a stall
 * takes no time, and no limit of time is short enough for a busy machine to reach.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"

const jumpMillis = 120_000
/** The longest timer of Node, in milliseconds. */
const maxTimer = 2 ** 31 - 1

/** Jumps the clock of the test. */
export class Jump extends Context.Service<Jump, () => void>()("@assembly-effect/tus/test/HangClock/Jump") {}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

const make = (live: Clock.Clock) => {
  let ahead = 0
  const sleepers = new Set<Sleeper>()
  const millis = () => live.currentTimeMillisUnsafe() + ahead
  const nanos = (base: bigint) => base + BigInt(ahead) * 1_000_000n

  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => nanos(live.currentTimeNanosUnsafe()),
    currentTimeNanos: Effect.sync(() => nanos(live.currentTimeNanosUnsafe())),
    monotonicTimeNanosUnsafe: () => nanos(live.monotonicTimeNanosUnsafe()),
    monotonicTimeNanos: Effect.sync(() => nanos(live.monotonicTimeNanosUnsafe())),
    sleep: (duration) =>
      Effect.callback((resume) => {
        const left = Duration.toMillis(duration)
        const timer = setTimeout(() => sleeper.wake(), Math.min(left, maxTimer))
        const end = () => {
          clearTimeout(timer)
          sleepers.delete(sleeper)
        }
        const sleeper: Sleeper = {
          at: millis() + left,
          wake: () => {
            end()
            resume(Effect.void)
          }
        }
        sleepers.add(sleeper)
        return Effect.sync(end)
      })
  }
  const jump = () => {
    ahead += jumpMillis
    const due = [...sleepers].filter(({ at }) => at <= millis()).toSorted((one, other) => one.at - other.at)
    for (const { wake } of due) wake()
  }
  return Context.make(Clock.Clock, clock).pipe(Context.add(Jump, jump))
}

export const layer = Layer.effectContext(Effect.clockWith((live) => Effect.succeed(make(live))))
