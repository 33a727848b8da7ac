import type * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import type * as RetryPolicy from "../RetryPolicy.ts"
import type * as Attempt from "./attempt.ts"
import * as ClockSkew from "./clockSkew.ts"
import type { Failed } from "./response.ts"
import * as Repeatable from "./repeatable.ts"
import * as Telemetry from "./telemetry.ts"

/**
 * The limits of an operation: its retry policy, its gate (rate limiter), the time limits of one request and of one
 * attempt (waits included) in milliseconds, and the clock skew. `until` is the time when the operation must have ended.
 */
export interface Limits {
  readonly policy: RetryPolicy.Policy
  readonly gate: Admission.Gate
  readonly requestTimeout: number
  readonly attemptTime: number
  readonly until: number
  readonly skew: ClockSkew.ClockSkew
}

/** A running operation. */
interface Run<A> {
  readonly operation: Operation.Any
  readonly limits: Limits
  readonly attempt: (conditions: Attempt.Conditions) => Effect.Effect<A, Failed>
  readonly next: (failure: RetryPolicy.Failure) => Effect.Effect<Option.Option<Duration.Duration>>
}

/** The state between two attempts. `clockSkew` is the skew for the next signature, in milliseconds. */
interface Progress {
  readonly failures: number
  readonly clockSkew: number
  readonly skewCorrected: boolean
}

/** The pause before the next attempt in milliseconds. The result is `None` if there is no next attempt. */
const pauseBefore = Effect.fnUntraced(function* (run: Run<unknown>, { error, wait }: Failed, failures: number) {
  const { name, retry } = run.operation
  if (!Repeatable.isRepeatable({ error, retry })) return Option.none<number>()
  const next = yield* run.next({ operation: name, retry, failures, error, wait })
  const now = yield* Clock.currentTimeMillis
  return Option.filter(Option.map(next, Duration.toMillis), (pause) => now + pause < run.limits.until)
})

const attempt = <A>(run: Run<A>, progress: Progress): Effect.Effect<A, Failed["error"]> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { attemptTime, gate, requestTimeout, skew, until } = run.limits
    const { clockSkew } = progress
    if (now >= until) {
      return Effect.fail(new ApiError.TimedOut({ operation: run.operation.name, after: Duration.zero }))
    }
    return run
      .attempt({
        requestTimeout,
        until: Math.min(until, now + attemptTime),
        clockSkew,
        gate,
        accepted: (response) => ClockSkew.accepted(skew, clockSkew, response)
      })
      .pipe(Effect.catch((failed) => heal(run, progress, failed)))
  })

const heal = Effect.fnUntraced(function* <A>(
  run: Run<A>,
  progress: Progress,
  failed: Failed
): Effect.fn.Return<A, Failed["error"]> {
  const { error } = failed
  const { name } = run.operation
  const clockSkew = ClockSkew.suggested(run.limits.skew, error)
  if (Option.isSome(clockSkew) && !progress.skewCorrected) {
    yield* Telemetry.corrected(name, clockSkew.value)
    return yield* attempt(run, { ...progress, clockSkew: clockSkew.value, skewCorrected: true })
  }
  const failures = progress.failures + 1
  const pause = yield* pauseBefore(run, failed, failures)
  if (Option.isNone(pause)) return yield* Effect.fail(error)
  yield* Telemetry.retried(name, { error, failures, pause: pause.value })
  yield* Effect.sleep(pause.value)
  return yield* attempt(run, { ...progress, failures })
})

/**
 * Repeats an attempt as often as the policy permits, and at most once more with a corrected clock. The time limit of an
 * attempt is at most the time until the deadline. If a pause would end after the deadline, the operation fails with the
 * last error instead.
 */
export const persist = Effect.fnUntraced(function* <A>(
  operation: Operation.Any,
  limits: Limits,
  attempts: Run<A>["attempt"]
) {
  const clockSkew = yield* ClockSkew.current(limits.skew)
  return yield* attempt(
    { operation, limits, attempt: attempts, next: yield* limits.policy.start },
    { failures: 0, clockSkew, skewCorrected: false }
  )
})
