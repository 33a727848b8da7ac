import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
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
  switch (Assembly.state(status)) {
    case "Busy":
    case "Unknown":
      return Option.none()
    case "Completed":
      return Option.some(Result.succeed(status))
    case "Canceled":
      return Option.some(Result.fail(new ApiError.AssemblyCanceled(detailsOf(status))))
    case "Aborted":
      return Option.some(Result.fail(new ApiError.AssemblyAborted(detailsOf(status))))
    case "Failed":
      return Option.some(Result.fail(new ApiError.AssemblyFailed(detailsOf(status))))
  }
}

const detailsOf = (status: Assembly.Status) => {
  const code = Assembly.errorCode(status) ?? status.ok ?? ""
  return {
    assemblyId: status.assembly_id,
    code: Redaction.code(code),
    description: Redaction.text(status.message ?? code),
    ...(status["reason"] === undefined ? undefined : { reason: Redaction.json(status["reason"]) })
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

export const growing = ({ first, max }: Pace): Schedule.Schedule<Duration.Duration> =>
  Schedule.min([Schedule.exponential(first, 1.5), Schedule.spaced(max)])

/** Adds up to a tenth to each pause at random, so that many watchers do not read at the same time. */
export const spread = <Output>(schedule: Schedule.Schedule<Output>): Schedule.Schedule<Output> =>
  Schedule.modifyDelay(schedule, ({ duration }) =>
    Effect.map(Random.next, (chance) => Duration.times(duration, 1 + chance / 10))
  )

const paced = (pace: Pace) => spread(growing(pace))

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
): Effect.Effect<Assembly.Status, E, R> =>
  Effect.retry(read, {
    while: (error) => isRateLimited(error) && Duration.isLessThanOrEqualTo(error.retryAfter, maxWait),
    schedule: paced(pace).pipe(
      Schedule.setInputType<E>(),
      Schedule.modifyDelay(({ duration, input }) =>
        Effect.succeed(isRateLimited(input) ? Duration.max(duration, input.retryAfter) : duration)
      )
    )
  })

/** Reads the Status until it is final, and returns the outcome. */
export const poll = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace
): Effect.Effect<Result.Result<Assembly.Status, AssemblyError>, E, R> =>
  Effect.map(read, outcome).pipe(
    Effect.repeat({ until: Option.isSome, schedule: paced(pace) }),
    Effect.flatMap(Option.match({ onNone: () => poll(read, pace), onSome: Effect.succeed }))
  )
