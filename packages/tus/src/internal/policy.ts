/**
 * What can heal, and how long to wait for it.
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

/** What one request after the creation can fail with. */
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
  // An answer that makes no sense says nothing of the bytes: the server is asked where it stands.
  "ProtocolViolation"
] satisfies ReadonlyArray<RequestError["_tag"]>)

/**
 * Whether asking the server where it stands, and going on from there, may help. It does not where the network, the
 * runtime or the HTTP client would stop the next request as well.
 */
export const canHeal = (error: { readonly _tag: string; readonly permanent?: boolean }): boolean =>
  healing.has(error._tag) && error.permanent !== true

const maxDelay = Duration.seconds(30)

/** The wait that a server asks for. */
const asked = (error: RequestError): Duration.Duration =>
  error._tag === "RateLimited" || error._tag === "ServerFailure" ? (error.retryAfter ?? Duration.zero) : Duration.zero

/**
 * The pause after so many failures in a row: doubling up to 30 seconds, between half and the whole of it, and on top of
 * the wait that the server asks for. The error itself where that is longer than `maxWait`: it tells the wait.
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
