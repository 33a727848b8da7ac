/** Waits for what other processes do. */
import * as Effect from "effect/Effect"

/** Waits until something has happened. If it has not after a minute, `what` never came; no machine is that slow. */
export const until = (what: string, happened: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!happened()) yield* Effect.sleep("20 millis")
  }).pipe(
    Effect.timeoutOrElse({ duration: "1 minute", orElse: () => Effect.die(new Error(`this never came: ${what}`)) })
  )
