import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import type * as RetryPolicy from "../RetryPolicy.ts"
import type * as Attempt from "./attempt.ts"
import type { Failed } from "./response.ts"
import * as Telemetry from "./telemetry.ts"

/**
 * What limits the operations of a client: the policy, and the milliseconds for one request and for all of an operation
 * together. `clockSkew` is how far the service's clock was ahead of ours when it last refused an expiry, in
 * milliseconds: the next operations sign with that corrected from the start.
 */
export interface Limits {
  readonly policy: RetryPolicy.Policy
  readonly requestTimeout: number
  readonly deadline: number
  readonly clockSkew: Ref.Ref<number>
}

/** An operation under way. */
interface Run<A> {
  readonly operation: Operation.Any
  readonly limits: Limits
  readonly attempt: (conditions: Attempt.Conditions) => Effect.Effect<A, Failed>
  readonly started: number
}

/** Where it stands between two attempts. */
interface Progress {
  readonly failures: number
  readonly skewCorrected: boolean
}

const begin: Progress = { failures: 0, skewCorrected: false }

const isExpired = (error: Failed["error"]): error is ApiError.AuthenticationFailed & { readonly clockSkew: number } =>
  error._tag === "AuthenticationFailed" && "clockSkew" in error && error.clockSkew !== undefined

/** The milliseconds that are left of the deadline. */
const timeLeft = ({ limits, started }: Run<unknown>): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => limits.deadline - (now - started))

/** The pause before the next attempt, in milliseconds; none where there is to be no other. */
const pauseBefore = Effect.fnUntraced(function* (run: Run<unknown>, { error, wait }: Failed, failures: number) {
  const { name, retry } = run.operation
  const next = yield* run.limits.policy.next({ operation: name, retry, failures, error, wait })
  const left = yield* timeLeft(run)
  return Option.filter(Option.map(next, Duration.toMillis), (pause) => pause < left)
})

const attempt = <A>(run: Run<A>, progress: Progress, timeout: number): Effect.Effect<A, Failed["error"]> =>
  Ref.get(run.limits.clockSkew).pipe(
    Effect.flatMap((clockSkew) => run.attempt({ timeout, clockSkew })),
    Effect.catch((failed) => heal(run, progress, failed))
  )

const again = <A>(run: Run<A>, progress: Progress): Effect.Effect<A, Failed["error"]> =>
  Effect.flatMap(timeLeft(run), (left) => attempt(run, progress, Math.min(run.limits.requestTimeout, left)))

const heal = Effect.fnUntraced(function* <A>(
  run: Run<A>,
  progress: Progress,
  failed: Failed
): Effect.fn.Return<A, Failed["error"]> {
  const { error } = failed
  const { name } = run.operation
  if (isExpired(error) && !progress.skewCorrected) {
    yield* Ref.set(run.limits.clockSkew, error.clockSkew)
    yield* Telemetry.corrected(name, error.clockSkew)
    return yield* again(run, { ...progress, skewCorrected: true })
  }
  const failures = progress.failures + 1
  const pause = yield* pauseBefore(run, failed, failures)
  if (Option.isNone(pause)) return yield* Effect.fail(error)
  yield* Telemetry.retried(name, { error, failures, pause: pause.value })
  yield* Effect.sleep(pause.value)
  return yield* again(run, { ...progress, failures })
})

/**
 * Repeats an attempt as the policy allows. An attempt has never more time than what is left of the deadline, and no
 * pause is begun that would end after it: the error of the last attempt is told then.
 */
export const persist = <A>(
  operation: Operation.Any,
  limits: Limits,
  attempts: Run<A>["attempt"]
): Effect.Effect<A, Failed["error"]> =>
  Effect.flatMap(Clock.currentTimeMillis, (started) =>
    attempt({ operation, limits, attempt: attempts, started }, begin, Math.min(limits.requestTimeout, limits.deadline))
  )
