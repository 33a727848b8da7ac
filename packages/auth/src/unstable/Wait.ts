/**
 * The waits that an answer asks for, and what its `Date` tells about the clocks. Beyond the specification, which shows
 * no rate limits.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

const propertyOf = (value: unknown, key: string): unknown =>
  Predicate.isObject(value) ? Reflect.get(value, key) : undefined

/** The wait that the body names in `info.retryIn`, which is in seconds, in milliseconds. Beyond the specification. */
const retryIn = (body: unknown): Option.Option<number> => {
  const seconds = propertyOf(propertyOf(body, "info"), "retryIn")
  return Number.isFinite(seconds) && Number(seconds) >= 0 ? Option.some(Number(seconds) * 1000) : Option.none()
}

/** The three forms of RFC 9110, 5.6.7; the last one is in GMT without saying so. */
const httpDate =
  /^(?:[a-z]{3}, \d{2} [a-z]{3} \d{4}|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2}) \d{2}:\d{2}:\d{2} GMT$|^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i

/**
 * A moment in milliseconds. `Headers.parseHttpDate` gives a `DateTime`, which brings calendars and time zones into a
 * bundle that has no other use for them.
 */
const parseDate = (text: string): Option.Option<number> => {
  const trimmed = text.trim()
  const date = httpDate.test(trimmed) ? Date.parse(/GMT$/i.test(trimmed) ? trimmed : `${trimmed} GMT`) : NaN
  return Number.isNaN(date) ? Option.none() : Option.some(date)
}

/** The time of the service when it answered, in milliseconds. */
const serviceTime = ({ date }: Headers.Headers): Option.Option<number> =>
  date === undefined ? Option.none() : parseDate(date)

/**
 * In milliseconds. A date is measured from the service's own time where it tells it, so that a wrong clock here does
 * not matter.
 */
const retryAfter = (headers: Headers.Headers, now: number): Option.Option<number> => {
  const header = headers["retry-after"]?.trim()
  if (header === undefined) return Option.none()
  if (/^\d+$/.test(header)) return Option.some(Number(header) * 1000)
  return Option.map(parseDate(header), (date) => Math.max(0, date - Option.getOrElse(serviceTime(headers), () => now)))
}

/** In milliseconds. A longer wait is one that nobody waits for; sums with this one stay finite. */
const longest = Number.MAX_SAFE_INTEGER

/**
 * The wait that an answer names, by its body or by `Retry-After`; the longer one where both do. It is always finite, but
 * may be absurdly long: whoever waits has a maximum.
 *
 * @since 0.1.0
 * @category utilities
 */
export const named = (headers: Headers.Headers, body: unknown): Effect.Effect<Option.Option<Duration.Duration>> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const waits = [...Option.toArray(retryAfter(headers, now)), ...Option.toArray(retryIn(body))]
    return waits.length === 0 ? Option.none() : Option.some(Duration.millis(Math.min(Math.max(...waits), longest)))
  })

/**
 * How far the service's clock is ahead of ours, in milliseconds.
 *
 * @since 0.1.0
 * @category utilities
 */
export const clockSkew = (headers: Headers.Headers): Effect.Effect<Option.Option<number>> =>
  Effect.map(Clock.currentTimeMillis, (now) => Option.map(serviceTime(headers), (time) => time - now))
