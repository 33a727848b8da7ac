import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as ApiError from "../ApiError.ts"

/** How an Assembly that is not busy any more ended: its Status when it completed, else the error for the way it did. */
export const outcome = (
  status: Assembly.Status
): Effect.Effect<Assembly.Status, ApiError.AssemblyFailed | ApiError.AssemblyCanceled | ApiError.AssemblyAborted> => {
  const ending = {
    assemblyId: status.assembly_id,
    code: status.error ?? status.ok ?? "",
    message: status.message ?? status.error ?? status.ok ?? ""
  }
  switch (Assembly.state(status)) {
    case "Busy":
    case "Completed":
      return Effect.succeed(status)
    case "Canceled":
      return Effect.fail(new ApiError.AssemblyCanceled(ending))
    case "Aborted":
      return Effect.fail(new ApiError.AssemblyAborted(ending))
    case "Failed":
      return Effect.fail(new ApiError.AssemblyFailed(ending))
  }
}

/** The pauses between two readings: from `first`, half as long again each time, at most `max`. */
export interface Pace {
  readonly first: Duration.Duration
  readonly max: Duration.Duration
}

/** The pause before reading number `reading` + 1, up to a tenth longer, so that many watchers spread. */
export const pause = (pace: Pace, reading: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (chance) =>
    Duration.times(Duration.min(Duration.times(pace.first, 1.5 ** Math.min(reading, 40)), pace.max), 1 + chance / 10)
  )

/**
 * Reads again after a rate limit, however often: one that outlives the retries of one reading says nothing about the
 * Assembly. A wait of more than `maxWait` is told instead.
 */
export const patiently = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace,
  maxWait: Duration.Duration
): Effect.Effect<Assembly.Status, E, R> => {
  const go = (refusals: number): Effect.Effect<Assembly.Status, E, R> =>
    read.pipe(Effect.catch((error) => again(error, refusals)))
  const again = (error: E, refusals: number): Effect.Effect<Assembly.Status, E, R> =>
    error instanceof ApiError.RateLimited && Duration.isLessThanOrEqualTo(error.retryAfter, maxWait)
      ? Effect.flatMap(pause(pace, refusals), (next) =>
          Effect.andThen(Effect.sleep(Duration.max(next, error.retryAfter)), go(refusals + 1))
        )
      : Effect.fail(error)
  return go(0)
}

/** Reads until the Assembly is not busy any more. */
export const poll = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace
): Effect.Effect<Assembly.Status, E, R> => {
  const go = (reading: number): Effect.Effect<Assembly.Status, E, R> =>
    Effect.flatMap(read, (status) =>
      Assembly.state(status) === "Busy"
        ? pause(pace, reading).pipe(Effect.flatMap(Effect.sleep), Effect.andThen(Effect.suspend(() => go(reading + 1))))
        : Effect.succeed(status)
    )
  return go(0)
}
