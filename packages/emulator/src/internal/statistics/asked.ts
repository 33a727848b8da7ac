import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Refusal } from "../http/refusal.ts"

/** The only region of the emulator. */
export const region = "eu-west-1"

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
export const read = Effect.fnUntraced(function* (
  { region: asked, since }: Asked,
  { invalidRegion, invalidTime }: Refusals
) {
  if (asked !== region && asked !== "all") {
    return yield* invalidRegion(`There is no such region: this service has ${region}.`)
  }
  const now = yield* DateTime.now
  const start = DateTime.make(since)
  if (Option.isNone(start)) return yield* invalidTime("since: Expected a date")
  return DateTime.isLessThan(start.value, DateTime.subtract(now, { days: 91 }))
    ? yield* invalidTime("since: Expected a date of the last 91 days")
    : { now, since: DateTime.toUtc(start.value) }
})
