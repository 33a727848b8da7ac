import * as Effect from "effect/Effect"

/** Like `Effect.ignore`, but without the option to log, because this option would add Effect's loggers to a bundle. */
export const ignored = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
  effect.pipe(
    Effect.asVoid,
    Effect.catch(() => Effect.void)
  )
