import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as DateTime from "effect/DateTime"

/** spec.md, "Limits": the `since` of statistics is at most 91 days ago. The value is in milliseconds. */
const limit = 91 * 24 * 60 * 60 * 1000

/**
 * Matches an ISO 8601 instant. Only a text with `Z` or an offset is unambiguous; the service interprets other texts.
 */
const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/

/** The time in milliseconds; `NaN` if the text is not an instant. */
const instantOf = (since: AssemblyStatistics.Query["since"]): number =>
  DateTime.isDateTime(since) ? DateTime.toEpochMillis(since) : instantText.test(since) ? Date.parse(since) : NaN

/**
 * A `since` of exactly 91 days ago is permitted. A text that is not an instant passes, because only the service can
 * interpret such a text.
 */
export const check = ({ since }: AssemblyStatistics.Query, now: DateTime.Utc): ReadonlyArray<Issue> =>
  instantOf(since) < DateTime.toEpochMillis(now) - limit
    ? [{ path: ["since"], message: "Expected a time at most 91 days ago" }]
    : []
