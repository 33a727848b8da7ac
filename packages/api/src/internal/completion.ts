import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as ApiError from "../ApiError.ts"

/**
 * The error for an Assembly that ended without completing.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyError = ApiError.AssemblyFailed | ApiError.AssemblyCanceled | ApiError.AssemblyAborted

/**
 * The outcome of an Assembly: its Status if the Assembly completed, else the error that describes how it ended. The
 * result is `None` while the Status is not final.
 *
 * @example
 * Option.match(Assemblies.outcome(assembly), { onNone: () => "running", onSome: Result.isSuccess })
 *
 * @since 0.1.0
 * @category utilities
 */
export const outcome = (status: Assembly.Status): Option.Option<Result.Result<Assembly.Status, AssemblyError>> => {
  const code = Assembly.errorCode(status) ?? status.ok ?? ""
  const details = {
    assemblyId: status.assembly_id,
    code: Redaction.code(code),
    explanation: Redaction.text(status.message ?? code),
    ...(status["reason"] === undefined ? undefined : { reason: Redaction.json(status["reason"]) })
  }
  switch (Assembly.state(status)) {
    case "Busy":
    case "Unknown":
      return Option.none()
    case "Completed":
      return Option.some(Result.succeed(status))
    case "Canceled":
      return Option.some(Result.fail(new ApiError.AssemblyCanceled(details)))
    case "Aborted":
      return Option.some(Result.fail(new ApiError.AssemblyAborted(details)))
    case "Failed":
      return Option.some(Result.fail(new ApiError.AssemblyFailed(details)))
  }
}

/**
 * The pauses between readings of the Status: the first pause is `first`, and each further pause is 1.5 times as long as
 * the previous pause, up to `max`.
 */
export interface Pace {
  readonly first: Duration.Duration
  readonly max: Duration.Duration
}

/**
 * The pause after reading number `reading`, counted from 0. Up to a tenth of the pause is added at random, so that many
 * watchers do not read at the same time.
 */
export const pause = (pace: Pace, reading: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (chance) =>
    Duration.times(Duration.min(Duration.times(pace.first, 1.5 ** Math.min(reading, 40)), pace.max), 1 + chance / 10)
  )

/** Recognises the error by its tag, because the client may be of a second copy of this package. */
const isRateLimited = (error: unknown): error is ApiError.RateLimited => Predicate.isTagged(error, "RateLimited")

/**
 * Reads the Status. After a rate limit, reads it again, because a rate limit says nothing about the Assembly. If a rate
 * limit requests a longer pause than `maxWait`, the effect fails with `RateLimited`.
 */
export const patiently = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace,
  maxWait: Duration.Duration
): Effect.Effect<Assembly.Status, E, R> => {
  const go = (refusals: number): Effect.Effect<Assembly.Status, E, R> =>
    read.pipe(Effect.catch((error) => again(error, refusals)))
  const again = (error: E, refusals: number): Effect.Effect<Assembly.Status, E, R> =>
    isRateLimited(error) && Duration.isLessThanOrEqualTo(error.retryAfter, maxWait)
      ? Effect.flatMap(pause(pace, refusals), (next) =>
          Effect.andThen(Effect.sleep(Duration.max(next, error.retryAfter)), go(refusals + 1))
        )
      : Effect.fail(error)
  return go(0)
}

/** Reads the Status until it is final, and returns the outcome. */
export const poll = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace
): Effect.Effect<Result.Result<Assembly.Status, AssemblyError>, E, R> => {
  const go = (reading: number): Effect.Effect<Result.Result<Assembly.Status, AssemblyError>, E, R> =>
    Effect.flatMap(read, (status) =>
      Option.match(outcome(status), {
        onNone: () =>
          pause(pace, reading).pipe(
            Effect.flatMap(Effect.sleep),
            Effect.andThen(Effect.suspend(() => go(reading + 1)))
          ),
        onSome: Effect.succeed
      })
    )
  return go(0)
}
