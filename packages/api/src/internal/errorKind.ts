import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Predicate from "effect/Predicate"

type Kind = "throttled" | "authentication" | "network" | "service"

const kinds: Readonly<Record<string, Kind>> = {
  RateLimited: "throttled",
  TokenRateLimited: "throttled",
  AuthenticationFailed: "authentication",
  WrongCredentials: "authentication",
  ScopeNotGranted: "authentication",
  AudienceRefused: "authentication",
  TransportFailure: "network",
  TimedOut: "network",
  Stalled: "network",
  CreationUnknown: "network",
  ConcatenationUnknown: "network"
}

/** The errors about a response that breaks the rules of the service or of the tus protocol. */
const invalid: ReadonlySet<string> = new Set(["UnexpectedResponse", "UnexpectedTokenResponse", "ProtocolViolation"])

/**
 * `TokenUnavailable` without a status means that the token request got no complete response. `TokenRefused` with the
 * status 404 means that the address has no token endpoint, so the credentials are not the cause.
 */
const kindOf = (error: unknown): Kind | undefined => {
  if (!Predicate.hasProperty(error, "_tag") || typeof error._tag !== "string") return undefined
  const { _tag: tag } = error
  if (Object.hasOwn(kinds, tag)) return kinds[tag]
  const status = "status" in error ? error.status : undefined
  if (ServiceError.gatewayStatuses.has(status) || (tag === "TokenUnavailable" && status === undefined)) return "network"
  if (tag === "TokenRefused" && typeof status === "number" && status !== 404) return "authentication"
  return invalid.has(tag) || (typeof status === "number" && status >= 500) ? "service" : undefined
}

/**
 * Whether an error of this library means that the program sends too many requests: `RateLimited` or `TokenRateLimited`.
 * Its `retryAfter` is the pause that the service requests.
 *
 * An error is at most one of `isThrottled`, `isAuthentication`, `isNetwork` and `isService`. An error with none of these
 * kinds is about the request itself, such as `InvalidRequest`, or about a local file.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isThrottled = (error: unknown): boolean => kindOf(error) === "throttled"

/**
 * Whether an error of this library means that the service refused the Auth Key, its secret, its scopes or a token. A
 * retry does not help before somebody has corrected the credentials.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAuthentication = (error: unknown): boolean => kindOf(error) === "authentication"

/**
 * Whether an error of this library means that the service could not be reached or did not respond in time, or that a
 * proxy or gateway responded with 407, 502, 503 or 504.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isNetwork = (error: unknown): boolean => kindOf(error) === "network"

/**
 * Whether an error of this library means that the service itself failed: another status of 500 or more, or an invalid
 * response.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isService = (error: unknown): boolean => kindOf(error) === "service"
