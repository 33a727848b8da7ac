import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Refusal } from "../http/refusal.ts"

/** Reads the `since` of statistics, which is a time of the last 91 days (spec.md, "Retrieve Assembly statistics"). */
export const read = Effect.fnUntraced(function* (
  since: string | DateTime.Utc,
  now: DateTime.Utc,
  invalid: (message: string) => Refusal
) {
  const start = DateTime.make(since)
  if (Option.isNone(start)) return yield* invalid("since: Expected a date")
  return DateTime.isLessThan(start.value, DateTime.subtract(now, { days: 91 }))
    ? yield* invalid("since: Expected a date of the last 91 days")
    : DateTime.toUtc(start.value)
})
