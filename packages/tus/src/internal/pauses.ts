/** If the service requests a pause in the response to one request, all requests to the same origin wait. */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** The maximum pause in milliseconds. If a server requests a longer pause, the requests wait only for this maximum. */
const longest = Duration.toMillis("1 hour")

/** Makes a gate (see `Admission.Gate`), which has no pauses at first. */
const make = (): Admission.Gate => {
  /** The end of the last pause of each origin, in milliseconds since 1970. */
  const ends = new Map<string, number>()

  const enter = (
    origin: string,
    startedAt: number,
    until: number
  ): Effect.Effect<Duration.Duration, Admission.NotAdmitted> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const end = ends.get(origin) ?? 0
      if (end <= now) return Effect.succeed(Duration.millis(now - startedAt))
      if (end >= until) return Effect.fail(new Admission.NotAdmitted({ wait: Option.some(Duration.millis(end - now)) }))
      // The response to a request that was already sent may extend the pause.
      return Effect.andThen(
        Effect.sleep(Duration.millis(end - now)),
        Effect.suspend(() => enter(origin, startedAt, until))
      )
    })

  return {
    enter: (origin, patience) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        enter(
          origin,
          now,
          Option.match(patience, { onNone: () => Infinity, onSome: (time) => now + Duration.toMillis(time) })
        )
      ),
    pause: (origin, wait) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const end = now + Math.min(longest, Duration.toMillis(wait))
        ends.set(origin, Math.max(end, ends.get(origin) ?? 0))
      })
  }
}

/** Adds pauses to `provided`, the gate in the context of a batch. All jobs of the batch share these pauses. */
export const shared = (provided: Admission.Provided): Admission.Provided => {
  const pauses = make()
  return (inner) => {
    const gate = Admission.apply(provided, inner)
    return {
      enter: (origin, patience) =>
        Effect.flatMap(pauses.enter(origin, patience), (waited) =>
          Effect.map(
            gate.enter(
              origin,
              Option.map(patience, (time) => Duration.subtract(time, waited))
            ),
            (time) => Duration.sum(waited, time)
          )
        ),
      pause: (origin, wait) => Effect.andThen(pauses.pause(origin, wait), gate.pause(origin, wait))
    }
  }
}
