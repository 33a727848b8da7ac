import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

/**
 * Runs synchronous work that takes milliseconds, one piece per round of the event loop. Other clients are answered
 * between two pieces. One instance serves all routes: with one per route, every route runs a piece in the same round.
 */
export class Turns extends Context.Service<
  Turns,
  {
    /** Waits for a turn, then runs the work. */
    readonly take: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@assembly-effect/emulator/Turns") {}

export const layer: Layer.Layer<Turns> = Layer.effect(
  Turns,
  Effect.map(Semaphore.make(1), (turn) =>
    Turns.of({ take: (work) => turn.withPermits(1)(Effect.andThen(Effect.yieldNow, work)) })
  )
)
