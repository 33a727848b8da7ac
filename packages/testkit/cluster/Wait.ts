/** Waits for events in other processes. */
import { Effect } from "effect"

/** Waits until `happened` returns true. Fails with `what` after a minute, because no machine is that slow. */
export const until = (what: string, happened: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!happened()) yield* Effect.sleep("20 millis")
  }).pipe(
    Effect.timeoutOrElse({
      duration: "1 minute",
      orElse: () => Effect.die(new Error(`did not happen within a minute: ${what}`))
    })
  )
