/**
 * The time limit of one request.
 */
import * as Transport from "@assembly-effect/api/unstable/Transport"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TusError from "../TusError.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import { hostOf } from "./host.ts"

/** See `Tus.RequestTimeout`. */
export const RequestTimeout = Context.Reference<Duration.Duration>("@assembly-effect/tus/RequestTimeout", {
  defaultValue: () => Duration.seconds(30)
})

/** A request, for the error if it takes too long: its name, and the URL whose host the error contains. */
interface Subject {
  readonly request: TusError.RequestName
  readonly url: string | UploadUrl
}

const stalled = ({ request, url }: Subject, after: Duration.Duration) =>
  Effect.suspend(() => Effect.fail(new TusError.Stalled({ request, host: hostOf(url), after })))

/** The time starts when the request is sent: the wait for a permit of the gate is not included. */
const orStalled = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  subject: Subject,
  limit: Duration.Duration
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Duration.isFinite(limit)
    ? Transport.withLimitFromDeparture(effect, Effect.andThen(Effect.sleep(limit), stalled(subject, limit)))
    : effect

/** The next piece of a response, which must arrive within {@link RequestTimeout}. */
export const limitedPiece = <A, E, R>(
  pull: Effect.Effect<A, E, R>,
  subject: Subject
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Effect.flatMap(RequestTimeout, (limit) =>
    Duration.isFinite(limit)
      ? Effect.timeoutOrElse(pull, { duration: limit, orElse: () => stalled(subject, limit) })
      : pull
  )

/** A request whose response must arrive within {@link RequestTimeout}. */
export const limited = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  subject: Subject
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Effect.flatMap(RequestTimeout, (limit) => orStalled(effect, subject, limit))

/** A request whose response must arrive within the given time, whatever {@link RequestTimeout} is. */
export const inTime = <A, E, R>(
  subject: Subject,
  limit: Duration.Duration,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | TusError.Stalled, R> =>
  orStalled(Effect.provideService(effect, RequestTimeout, Duration.infinity), subject, limit)
