/** The correction of the clock with which requests are signed. */
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import type * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import type { Failed } from "./response.ts"

/**
 * The clock skew between the service and this machine.
 *
 * A `Date` header is not trustworthy: it may come from a proxy or a broken service. Therefore, only the operation that
 * was refused uses the time in the header, for its next attempt. The skew is kept for other operations only if the
 * response to that attempt does not report an expired signature, and its `Date` shows the same skew. A correction is
 * dropped if a later response contradicts it.
 *
 * Times are in milliseconds. `max` is the largest skew that is corrected, in either direction. `kept` is the skew that
 * all operations start with, or 0.
 */
export interface Skew {
  readonly max: number
  kept: number
}

/**
 * Two clock skews with at most this difference (in milliseconds) count as equal, because a `Date` has whole seconds,
 * and a response takes some time to arrive.
 */
const tolerance = 60_000

/** The correction that an error suggests, unless it is larger than `max`. */
export const suggested = ({ max }: Skew, error: Failed["error"]): number | undefined => {
  const skew = error instanceof ApiError.AuthenticationFailed ? error.clockSkew : undefined
  return skew !== undefined && Math.abs(skew) <= max ? skew : undefined
}

/**
 * Call this function with each response to a request that was signed with the correction `used`, unless the response
 * reports an expired signature. Keeps the correction if the `Date` of the response shows the same skew, and drops the
 * correction if the `Date` shows another skew.
 */
export const accept = (skew: Skew, used: number, headers: Headers.Headers, now: number): void => {
  if (used === 0 && skew.kept === 0) return
  const told = Outcome.clockSkew(headers, now)
  if (Option.isNone(told)) return
  if (Math.abs(told.value - used) <= tolerance) skew.kept = used
  else if (used !== 0) skew.kept = 0
}

export const isAboutExpiry = (error: Failed["error"] | undefined): boolean =>
  error instanceof ApiError.AuthenticationFailed && error.code === "AUTH_EXPIRED"
