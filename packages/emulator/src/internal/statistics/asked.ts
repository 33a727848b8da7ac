import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { region as own } from "../assembly/region.ts"
import type { Refusal } from "../http/refusal.ts"

/** The params of a request for statistics. */
interface Asked {
  readonly region: string
  readonly since: string | DateTime.Utc
}

/** Makes the refusals of an operation, by what is wrong. */
interface Refusals {
  readonly invalidRegion: (message: string) => Refusal
  readonly invalidTime: (message: string) => Refusal
}

/**
 * Checks the `region` of statistics, which must be "a specific region or `all`" (spec.md, "Errors"), and then reads
 * their `since`, which is a time of the last 91 days (spec.md, "Retrieve Assembly statistics").
 */
export const read = Effect.fnUntraced(function* ({ region, since }: Asked, { invalidRegion, invalidTime }: Refusals) {
  if (region !== own && region !== "all") {
    return yield* invalidRegion(`There is no such region: this service has ${own}.`)
  }
  const now = yield* DateTime.now
  const start = DateTime.make(since)
  if (Option.isNone(start)) return yield* invalidTime("since: Expected a date")
  return DateTime.isLessThan(start.value, DateTime.subtract(now, { days: 91 }))
    ? yield* invalidTime("since: Expected a date of the last 91 days")
    : { now, since: DateTime.toUtc(start.value) }
})
