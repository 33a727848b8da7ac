import * as DateTime from "effect/DateTime"

/** A moment as Statuses and lists write it, e.g. `2025/09/24 14:30:24 GMT` (service facts). Milliseconds are dropped. */
export const format = (millis: number): string =>
  `${DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(0, 19).replaceAll("-", "/").replace("T", " ")} GMT`
