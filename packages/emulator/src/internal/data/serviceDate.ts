import * as DateTime from "effect/DateTime"

/**
 * Formats a time like the service, as in `2025/09/24 14:30:24 GMT` (beyond the specification). The milliseconds are cut
 * off.
 */
export const format = (millis: number): string =>
  `${DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(0, 19).replaceAll("-", "/").replace("T", " ")} GMT`

/**
 * The number of seconds between two times, which are in milliseconds. The result is null if a time is unknown, and 0 if
 * `to` is before `from`.
 */
export const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from) / 1000
