import * as DateTime from "effect/DateTime"

/** Formats a time like the service, e.g. `2025/09/24 14:30:24 GMT` (service facts). Milliseconds are dropped. */
export const format = (millis: number): string =>
  `${DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(0, 19).replaceAll("-", "/").replace("T", " ")} GMT`

/** The seconds between two times in milliseconds. Null if one of them is unknown. Never negative. */
export const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from) / 1000
