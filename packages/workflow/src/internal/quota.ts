/**
 * Pauses that the service requests (HTTP status 429). All jobs of a database keep them: a pause is stored, and each
 * runner reads it at an interval.
 */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Outage } from "./outage.ts"
import type { Store } from "./store.ts"

/** The longest pause in milliseconds. After a longer pause was requested, the service is asked again at this time. */
const longest = Duration.toMillis("1 day")

/**
 * - `wait`: waits until the service may be asked.
 * - `refresh`: reads the pause that another runner, or an earlier process, has stored.
 * - `keep`: runs an effect whose requests fail with `RateLimited` during a pause, and whose responses may begin a pause.
 */
export type Quota = ReturnType<typeof make>

export const make = (store: Store, outage: Outage) => {
  let end = 0

  const left = Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, end - now))

  const wait: Effect.Effect<void> = Effect.flatMap(left, (time) =>
    // The pause may have become longer in between.
    time === 0 ? Effect.void : Effect.andThen(Effect.sleep(time), () => wait)
  )

  const refresh = Effect.gen(function* () {
    const stored = yield* store.pausedUntil
    // No runner stores a later time, unless its clock is wrong.
    if (stored <= (yield* Clock.currentTimeMillis) + longest) end = Math.max(end, stored)
  })

  const pause = Effect.fnUntraced(function* (time: Duration.Duration) {
    const until = (yield* Clock.currentTimeMillis) + Math.min(longest, Math.ceil(Duration.toMillis(time)))
    if (until <= end) return
    end = until
    yield* store.pause(until).pipe(Effect.catch(outage.report))
  })

  const gate = (inner: Admission.Gate): Admission.Gate => ({
    enter: (origin, patience) =>
      Effect.flatMap(left, (time) =>
        time === 0
          ? inner.enter(origin, patience)
          : Effect.fail(new Admission.NotAdmitted({ wait: Option.some(Duration.millis(time)) }))
      ),
    pause: (origin, time) => Effect.andThen(pause(time), inner.pause(origin, time))
  })

  const keep = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Admission.Admission, (provided) =>
      Effect.provideService(effect, Admission.Admission, (inner: Admission.Gate) =>
        gate(Admission.apply(provided, inner))
      )
    )

  return { wait, refresh, keep }
}
