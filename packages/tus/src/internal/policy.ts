/**
 * Decides which failures are temporary, and how long to pause after them.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { SourceFailed } from "../UploadSource.ts"
import type * as TusError from "../TusError.ts"

/** The limits of one upload. */
export interface Policy {
  readonly maxRetries: number
  readonly retryDelay: Duration.Duration
  readonly stallTimeout: Duration.Duration
  readonly finishTimeout: Duration.Duration
  readonly maxWait: Duration.Duration
}

/** The errors of a request after the creation. */
export type RequestError =
  | TusError.AnswerError
  | ApiError.TransportFailure
  | TusError.Stalled
  | TusError.UploadMismatch
  | TusError.UploadUntrusted
  | SourceFailed

const healing: ReadonlySet<string> = new Set([
  "TransportFailure",
  "ServerFailure",
  "RateLimited",
  "UploadLocked",
  "OffsetConflict",
  "ChecksumMismatch",
  "Stalled",
  // An invalid response says nothing about the bytes, so the offset is requested.
  "ProtocolViolation"
] satisfies ReadonlyArray<RequestError["_tag"]>)

/**
 * Whether a request for the offset and a continuation from there may help. They do not help if the network, the runtime
 * or the HTTP client would stop the next request as well.
 */
export const canHeal = (error: { readonly _tag: string; readonly permanent?: boolean }): boolean =>
  healing.has(error._tag) && error.permanent !== true

const maxDelay = Duration.seconds(30)

/** The pause that a server requests. */
const asked = (error: RequestError): Duration.Duration =>
  error._tag === "RateLimited" || error._tag === "ServerFailure" ? (error.retryAfter ?? Duration.zero) : Duration.zero

/**
 * The pause after a number of consecutive failures: it doubles up to 30 seconds, is random between half and the whole
 * of that, and is added to the pause that the server requests. If the requested pause is longer than `maxWait`, the
 * upload fails with the error, which contains the pause.
 */
export const pause = <E extends RequestError>(
  policy: Policy,
  failures: number,
  error: E
): Effect.Effect<Duration.Duration, E> => {
  const wait = asked(error)
  if (Duration.isGreaterThan(wait, policy.maxWait)) return Effect.fail(error)
  return Effect.map(RetryPolicy.backOff({ base: policy.retryDelay, maxPause: maxDelay }, failures), Duration.sum(wait))
}
