/**
 * How long one request may take.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TusError from "../TusError.ts"

/** See `Tus.RequestTimeout`. */
export const RequestTimeout = Context.Reference<Duration.Duration>("@assembly-effect/tus/RequestTimeout", {
  defaultValue: () => Duration.seconds(30)
})

const orStalled = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  request: TusError.RequestName,
  limit: Duration.Duration
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Duration.isFinite(limit)
    ? Effect.timeoutOrElse(effect, {
        duration: limit,
        orElse: () => Effect.fail(new TusError.Stalled({ request, after: limit }))
      })
    : effect

/** A request that must be answered within {@link RequestTimeout}. */
export const limited = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  request: TusError.RequestName
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Effect.flatMap(RequestTimeout, (limit) => orStalled(effect, request, limit))

/** A request that must be answered within this time, whatever {@link RequestTimeout} says. */
export const inTime = <A, E, R>(
  request: TusError.RequestName,
  limit: Duration.Duration,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | TusError.Stalled, R> =>
  orStalled(Effect.provideService(effect, RequestTimeout, Duration.infinity), request, limit)
