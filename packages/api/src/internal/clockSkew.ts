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
import * as Ref from "effect/Ref"
import type * as ApiError from "../ApiError.ts"
import type { Failed } from "./response.ts"

/** All times are in milliseconds. `max` is the most that is corrected, in either direction. */
export interface ClockSkew {
  readonly max: number
  readonly kept: Ref.Ref<number>
}

/** Two answers that differ by no more tell the same time: a `Date` has whole seconds, and answers take their time. */
const tolerance = 60_000

export const make = (max: number): Effect.Effect<ClockSkew> => Effect.map(Ref.make(0), (kept) => ({ max, kept }))

/** What an operation signs with before it knows better. */
export const current = ({ kept }: ClockSkew): Effect.Effect<number> => Ref.get(kept)

/** The correction that an error suggests; none where it suggests none, or more than is corrected. */
export const suggested = ({ max }: ClockSkew, error: Failed["error"]): Option.Option<number> =>
  isExpired(error) && Math.abs(error.clockSkew) <= max ? Option.some(error.clockSkew) : Option.none()

const isExpired = (error: Failed["error"]): error is ApiError.AuthenticationFailed & { readonly clockSkew: number } =>
  error._tag === "AuthenticationFailed" && "clockSkew" in error && error.clockSkew !== undefined

/** Learns from an answer to a request that was signed with the correction `used` and accepted. */
export const accepted = Effect.fnUntraced(function* ({ kept }: ClockSkew, used: number, headers: Headers.Headers) {
  if (used === 0 && (yield* Ref.get(kept)) === 0) return
  const told = yield* Wait.clockSkew(headers)
  if (Option.isNone(told)) return
  if (Math.abs(told.value - used) <= tolerance) yield* Ref.set(kept, used)
  else if (used !== 0) yield* Ref.set(kept, 0)
})
