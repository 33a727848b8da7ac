import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as ApiError from "../ApiError.ts"

/** spec.md, "Limits": `since` of statistics is at most 91 days ago. */
const limit = Duration.days(91)

/** An ISO 8601 instant: only a text with `Z` or an offset is unambiguous. The service interprets other texts. */
const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/

const instantOf = (since: AssemblyStatistics.Query["since"]): Option.Option<DateTime.DateTime> => {
  if (DateTime.isDateTime(since)) return Option.some(since)
  return instantText.test(since) ? DateTime.make(since) : Option.none()
}

/** Exactly 91 days are permitted. A text that is not an instant is left to the service. */
export const check = ({ since }: AssemblyStatistics.Query, now: DateTime.Utc): ReadonlyArray<ApiError.Issue> =>
  Option.exists(instantOf(since), (instant) => DateTime.isLessThan(instant, DateTime.subtractDuration(now, limit)))
    ? [{ path: ["since"], message: "Expected a moment at most 91 days ago" }]
    : []
