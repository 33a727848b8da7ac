/**
 * The time limit of one request.
 */
import * as Transport from "@assembly-effect/api/unstable/Transport"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TusError from "../TusError.ts"

/** See `Tus.RequestTimeout`. */
export const RequestTimeout = Context.Reference<Duration.Duration>("@assembly-effect/tus/RequestTimeout", {
  defaultValue: () => Duration.seconds(30)
})

const stalled = (request: TusError.RequestName, after: Duration.Duration, host?: string) =>
  Effect.fail(new TusError.Stalled({ request, after, ...(host === undefined ? undefined : { host }) }))

/** The time starts when the request is sent: the wait for a permit does not count. */
const orStalled = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  request: TusError.RequestName,
  limit: Duration.Duration,
  host?: string
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Duration.isFinite(limit)
    ? Transport.withLimitFromDeparture(effect, Effect.andThen(Effect.sleep(limit), stalled(request, limit, host)))
    : effect

/** The next piece of a response, which must arrive within {@link RequestTimeout}. */
export const limitedPiece = <A, E, R>(
  pull: Effect.Effect<A, E, R>,
  request: TusError.RequestName,
  host: string
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Effect.flatMap(RequestTimeout, (limit) =>
    Duration.isFinite(limit)
      ? Effect.timeoutOrElse(pull, { duration: limit, orElse: () => stalled(request, limit, host) })
      : pull
  )

/** A request whose response must arrive within {@link RequestTimeout}. */
export const limited = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  request: TusError.RequestName,
  host: string
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Effect.flatMap(RequestTimeout, (limit) => orStalled(effect, request, limit, host))

/** A request whose response must arrive within the given time, whatever {@link RequestTimeout} is. */
export const inTime = <A, E, R>(
  request: TusError.RequestName,
  limit: Duration.Duration,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | TusError.Stalled, R> =>
  orStalled(Effect.provideService(effect, RequestTimeout, Duration.infinity), request, limit)
