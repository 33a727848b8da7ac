/**
 * The time limit of one request.
 */
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

/** The request that a `Stalled` error describes: its name and its URL. The error contains only the host of the URL. */
interface Subject {
  readonly request: TusError.RequestName
  readonly url: string | UploadUrl
}

const stalled = ({ request, url }: Subject, after: Duration.Duration) =>
  Effect.suspend(() => Effect.fail(new TusError.Stalled({ request, host: hostOf(url), after })))

/** Limits the wait for the headers of a download, or for its next piece, to {@link RequestTimeout}. */
export const limited = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  subject: Subject
): Effect.Effect<A, E | TusError.Stalled, R> =>
  Effect.flatMap(RequestTimeout, (limit) =>
    Duration.isFinite(limit)
      ? Effect.timeoutOrElse(effect, { duration: limit, orElse: () => stalled(subject, limit) })
      : effect
  )

/**
 * Limits the duration of requests without a body to `limit`. The time starts when the request is sent, so it does not
 * include the wait for the budget.
 */
export const inTime = <A, E, R>(limit: Duration.Duration, request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(request, RequestTimeout, limit)
