import * as Effect from "effect/Effect"

/** `Effect.ignore` without its option to log, which would add Effect's loggers to a bundle. */
export const ignored = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
  effect.pipe(
    Effect.asVoid,
    Effect.catch(() => Effect.void)
  )
