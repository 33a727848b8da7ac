/**
 * How far the clock of the service is ahead of ours, and when that is believed.
 *
 * A `Date` header is anybody's word: one of a proxy, or of a service that is not well. So what it tells is tried by the
 * operation that was refused, and kept for the next ones only when the answer to that attempt, which was accepted, tells
 * the same time. A correction that a later answer contradicts is given up.
 */
import * as Wait from "@assembly-effect/auth/unstable/Wait"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import type * as ApiError from "../ApiError.ts"
import type { Failed } from "./response.ts"

/** All times are in milliseconds. `max` is the most that is corrected, in either direction. */
export interface ClockSkew {
  readonly max: number
  kept: number
}

/** Two answers that differ by no more tell the same time: a `Date` has whole seconds, and answers take their time. */
const tolerance = 60_000

export const make = (max: number): ClockSkew => ({ max, kept: 0 })

/** What an operation signs with before it knows better. */
export const current = (skew: ClockSkew): Effect.Effect<number> => Effect.sync(() => skew.kept)

/** The correction that an error suggests; none where it suggests none, or more than is corrected. */
export const suggested = ({ max }: ClockSkew, error: Failed["error"]): Option.Option<number> =>
  isExpired(error) && Math.abs(error.clockSkew) <= max ? Option.some(error.clockSkew) : Option.none()

const isExpired = (error: Failed["error"]): error is ApiError.AuthenticationFailed & { readonly clockSkew: number } =>
  error._tag === "AuthenticationFailed" && "clockSkew" in error && error.clockSkew !== undefined

/** Learns from an answer to a request that was signed with the correction `used` and accepted. */
export const accepted = (skew: ClockSkew, used: number, headers: Headers.Headers): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (used === 0 && skew.kept === 0) return Effect.void
    return Effect.map(Wait.clockSkew(headers), (told) => {
      if (Option.isNone(told)) return
      if (Math.abs(told.value - used) <= tolerance) skew.kept = used
      else if (used !== 0) skew.kept = 0
    })
  })
