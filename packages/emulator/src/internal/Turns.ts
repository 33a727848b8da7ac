import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/**
 * Work that keeps the thread, one after the other and with a pause before each, in which others are answered. Requests
 * that come together would else be one stop as long as all of them.
 */
export const make: Effect.Effect<<A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>> = Effect.map(
  Semaphore.make(1),
  (turn) => (work) => turn.withPermits(1)(Effect.andThen(Effect.yieldNow, work))
)
