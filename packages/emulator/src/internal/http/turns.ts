import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

/**
 * Limits the long work in one round of the event loop, so that other clients get their responses between two rounds.
 * All routes share one instance, because otherwise every route could use the whole limit in the same round.
 */
export class Turns extends Context.Service<
  Turns,
  {
    /** Waits for a turn, then runs the work. A turn starts after the previous turn, in a new round. */
    readonly take: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * Runs work that is usually short. The work waits for a turn only if `share` has used up the time budget of the
     * current round.
     */
    readonly share: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@assembly-effect/emulator/Turns") {}

/** The time budget of `share` in one round of the event loop, in nanoseconds. */
const budget = 10_000_000n

const make = Effect.gen(function* () {
  const turn = yield* Semaphore.make(1)
  let spent = 0n

  const take = <A, E, R>(work: Effect.Effect<A, E, R>) => turn.withPermits(1)(Effect.andThen(Effect.yieldNow, work))

  const spend = (nanos: bigint) => {
    if (spent === 0n) setImmediate(() => (spent = 0n))
    spent += nanos + 1n
  }

  const counted = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.currentTimeNanos, (start) =>
      Effect.ensuring(
        work,
        Effect.map(Clock.currentTimeNanos, (end) => spend(end - start))
      )
    )

  return Turns.of({
    take,
    share: (work) => Effect.suspend(() => (spent < budget ? counted(work) : take(counted(work))))
  })
})

export const layer = Layer.effect(Turns, make)
