/**
 * The row of this runner in the table of runners. While this row exists, no other runner takes the jobs of this runner
 * over.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Claims } from "./claims.ts"
import type { Outage } from "./outage.ts"

/** How long a runner that ends waits for the database, at most. */
const farewell = "2 seconds"

/** The id that the runner claims jobs with. Empty while the runner has lost its row. */
type Membership = () => string

/**
 * Adds this runner to the table, and prolongs its row until the scope closes. The runner has lost its jobs if its row
 * was removed, or if the database has not confirmed the row for the time `expiry`, for example because the process was
 * frozen. Then `lost` stops the work on the jobs, and the runner joins again with another id.
 *
 * Without `expiry`, this process has locked the database. Then all jobs were left by earlier processes.
 */
export const make = Effect.fnUntraced(function* (
  claims: Claims,
  outage: Outage,
  expiry: Duration.Duration | undefined,
  lost: Effect.Effect<void>
) {
  if (expiry === undefined) {
    const own = yield* Assemblies.newId
    yield* claims.clear
    yield* claims.join(own, Duration.days(36_500))
    return (() => own) satisfies Membership
  }
  const scope = yield* Effect.scope
  let id: string = ""
  let confirmedAt = 0
  const join = Effect.gen(function* () {
    const next = yield* Assemblies.newId
    // The time of a confirmation is that of the request, not of the response.
    const at = yield* Clock.currentTimeMillis
    yield* claims.join(next, expiry)
    id = next
    confirmedAt = at
  })
  const prolong = Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    // The request may hang, so the wait must not have to interrupt it.
    const asking = yield* Effect.forkIn(outage.retrying(claims.prolong(id, expiry)), scope)
    const left = confirmedAt + Duration.toMillis(expiry) - at
    const answer = yield* Effect.timeoutOption(Fiber.join(asking), Duration.millis(Math.max(0, left)))
    if (Option.contains(answer, true)) {
      confirmedAt = at
      return
    }
    const before = id
    id = ""
    yield* lost
    yield* outage.retrying(Effect.andThen(claims.leave(before), join))
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => claims.leave(id)).pipe(Effect.timeoutOption(farewell), Effect.ignore)
  )
  yield* join
  yield* Effect.forkScoped(Effect.forever(Effect.delay(prolong, Duration.times(expiry, 1 / 3))))
  return (() => id) satisfies Membership
})
