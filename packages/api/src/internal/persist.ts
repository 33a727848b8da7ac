import type * as Admission from "@assembly-effect/auth/unstable/Admission"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import type * as Attempt from "./attempt.ts"
import * as ClockSkew from "./clockSkew.ts"
import type { Failed } from "./response.ts"
import * as Telemetry from "./telemetry.ts"

/**
 * The limits of an operation: its retry policy, its gate (rate limiter), the time limits of one request and of one
 * attempt (waits included) in milliseconds, and the clock skew. `until` is the time when the operation must have ended.
 */
export interface Limits {
  readonly clock: Clock.Clock
  readonly policy: RetryPolicy.Policy
  readonly gate: Admission.Gate
  readonly requestTimeout: number
  readonly attemptTime: number
  readonly until: number
  readonly skew: ClockSkew.ClockSkew
}

/** The state between two attempts. `clockSkew` is the skew for the next signature, in milliseconds. */
interface Progress {
  readonly failures: number
  readonly clockSkew: number
  readonly skewCorrected: boolean
}

/**
 * Repeats an attempt as often as the policy permits, and at most once more with a corrected clock. The time limit of an
 * attempt is at most the time until the deadline. If a pause would end after the deadline, the operation fails with the
 * last error instead.
 */
export const persist = <A>(
  operation: Operation.Any,
  limits: Limits,
  once: (conditions: Attempt.Conditions) => Effect.Effect<A, Failed>
): Effect.Effect<A, Failed["error"]> => {
  const { name, retry } = operation
  const { attemptTime, clock, gate, policy, requestTimeout, skew, until } = limits
  const pauseAfter = RetryPolicy.pauses(policy)

  const attempt = (progress: Progress): Effect.Effect<A, Failed["error"]> => {
    const now = clock.currentTimeMillisUnsafe()
    if (now >= until) return Effect.fail(new ApiError.TimedOut({ operation: name, after: Duration.zero }))
    const { clockSkew } = progress
    return once({ clock, requestTimeout, until: Math.min(until, now + attemptTime), clockSkew, gate }).pipe(
      Effect.catch((failed) => heal(progress, failed))
    )
  }

  const heal = Effect.fnUntraced(function* (
    progress: Progress,
    { error, wait }: Failed
  ): Effect.fn.Return<A, Failed["error"]> {
    const clockSkew = ClockSkew.suggested(skew, error)
    if (Option.isSome(clockSkew) && !progress.skewCorrected) {
      yield* Telemetry.corrected(name, clockSkew.value)
      return yield* attempt({ ...progress, clockSkew: clockSkew.value, skewCorrected: true })
    }
    const failures = progress.failures + 1
    const pause = yield* pauseAfter({ operation: name, retry, failures, error, wait })
    const millis = Option.isSome(pause) ? Duration.toMillis(pause.value) : Infinity
    if (clock.currentTimeMillisUnsafe() + millis >= until) return yield* Effect.fail(error)
    yield* Telemetry.retried(name, { error, failures, pause: millis })
    yield* Effect.sleep(millis)
    return yield* attempt({ ...progress, failures })
  })

  return attempt({ failures: 0, clockSkew: skew.kept, skewCorrected: false })
}
