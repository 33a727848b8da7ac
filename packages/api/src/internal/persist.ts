import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import type * as RetryPolicy from "../RetryPolicy.ts"
import type * as Attempt from "./attempt.ts"
import type { Failed } from "./response.ts"
import * as Telemetry from "./telemetry.ts"

/** Where an operation stands between two attempts. */
interface Progress {
  readonly failures: number
  readonly clockSkew: number
  readonly skewCorrected: boolean
}

/** What limits an operation: the policy, and the milliseconds for one request and for all together. */
export interface Limits {
  readonly policy: RetryPolicy.Policy
  readonly requestTimeout: number
  readonly deadline: number
}

const isExpired = (error: Failed["error"]): error is ApiError.AuthenticationFailed & { readonly clockSkew: number } =>
  error._tag === "AuthenticationFailed" && "clockSkew" in error && error.clockSkew !== undefined

/**
 * Repeats an attempt as the policy allows. An attempt has never more time than what is left of the deadline, and no
 * pause is begun that would end after it: the error of the last attempt is told then.
 */
export const persist = <A>(
  operation: Operation.Any,
  limits: Limits,
  attempt: (conditions: Attempt.Conditions) => Effect.Effect<A, Failed>
): Effect.Effect<A, Failed["error"]> =>
  Effect.flatMap(Clock.currentTimeMillis, (started) => {
    const timeLeft = Effect.map(Clock.currentTimeMillis, (now) => limits.deadline - (now - started))

    const pauseBefore = Effect.fnUntraced(function* ({ error, wait }: Failed, failures: number) {
      const next = yield* limits.policy.next({
        operation: operation.name,
        retry: operation.retry,
        failures,
        error,
        wait
      })
      const left = yield* timeLeft
      return Option.filter(Option.map(next, Duration.toMillis), (pause) => pause < left)
    })

    const go = (progress: Progress, timeout: number): Effect.Effect<A, Failed["error"]> =>
      attempt({ timeout, clockSkew: progress.clockSkew }).pipe(Effect.catch((failed) => heal(progress, failed)))

    const again = (progress: Progress): Effect.Effect<A, Failed["error"]> =>
      Effect.flatMap(timeLeft, (left) => go(progress, Math.min(limits.requestTimeout, left)))

    const heal = Effect.fnUntraced(function* (
      progress: Progress,
      failed: Failed
    ): Effect.fn.Return<A, Failed["error"]> {
      const { error } = failed
      if (isExpired(error) && !progress.skewCorrected) {
        yield* Telemetry.corrected(operation.name, error.clockSkew)
        return yield* again({ ...progress, clockSkew: error.clockSkew, skewCorrected: true })
      }
      const failures = progress.failures + 1
      const pause = yield* pauseBefore(failed, failures)
      if (Option.isNone(pause)) return yield* Effect.fail(error)
      yield* Telemetry.retried(operation.name, { error, failures, pause: pause.value })
      yield* Effect.sleep(pause.value)
      return yield* again({ ...progress, failures })
    })

    return go({ failures: 0, clockSkew: 0, skewCorrected: false }, Math.min(limits.requestTimeout, limits.deadline))
  })
