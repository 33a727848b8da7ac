/**
 * Reads the pauses that a response requests, and the clock skew from the `Date` header of the response. The pauses are
 * beyond the specification, which defines no rate limits.
 */
import * as Duration from "effect/Duration"
import type * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

const propertyOf = (value: unknown, key: string): unknown =>
  Predicate.isObject(value) ? Reflect.get(value, key) : undefined

/** The wait that the body names in `info.retryIn`, converted from seconds to milliseconds. Beyond the specification. */
const retryIn = (body: unknown): Option.Option<number> => {
  const seconds = propertyOf(propertyOf(body, "info"), "retryIn")
  return Number.isFinite(seconds) && Number(seconds) >= 0 ? Option.some(Number(seconds) * 1000) : Option.none()
}

/** The three date formats of RFC 9110, 5.6.7. The third format names no zone; its zone is GMT. */
const httpDate =
  /^(?:[a-z]{3}, \d{2} [a-z]{3} \d{4}|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2}) \d{2}:\d{2}:\d{2} GMT$|^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i

/**
 * Parses an HTTP date into milliseconds since 1970. `Headers.parseHttpDate` is not used, because it returns a
 * `DateTime`, which would add calendars and time zones to a bundle.
 */
const parseDate = (text: string): Option.Option<number> => {
  const trimmed = text.trim()
  const date = httpDate.test(trimmed) ? Date.parse(/GMT$/i.test(trimmed) ? trimmed : `${trimmed} GMT`) : NaN
  return Number.isNaN(date) ? Option.none() : Option.some(date)
}

/** The time at which the service responded, in milliseconds since 1970. */
const serviceTime = ({ date }: Headers.Headers): Option.Option<number> =>
  date === undefined ? Option.none() : parseDate(date)

/**
 * The wait in `Retry-After`, in milliseconds. If the header contains a date and the response has a `Date`, the wait is
 * the difference between these two times, so that a wrong local clock has no effect.
 */
const retryAfter = (headers: Headers.Headers, now: number): Option.Option<number> => {
  const header = headers["retry-after"]?.trim()
  if (header === undefined) return Option.none()
  if (/^\d+$/.test(header)) return Option.some(Number(header) * 1000)
  return Option.map(parseDate(header), (date) => Math.max(0, date - Option.getOrElse(serviceTime(headers), () => now)))
}

/** The longest wait, in milliseconds. This limit is finite, so that a sum of waits is finite too. */
const longest = Number.MAX_SAFE_INTEGER

/**
 * The pause that a response requests, at the time `now` (in milliseconds since 1970). If the body and `Retry-After` name
 * different pauses, the longer pause counts. The pause is always finite, but may be extremely long, so the caller needs
 * a maximum.
 *
 * @since 0.1.0
 * @category utilities
 */
export const named = (headers: Headers.Headers, body: unknown, now: number): Option.Option<Duration.Duration> => {
  const waits = [...Option.toArray(retryAfter(headers, now)), ...Option.toArray(retryIn(body))]
  return waits.length === 0 ? Option.none() : Option.some(Duration.millis(Math.min(Math.max(...waits), longest)))
}

/**
 * The clock skew in milliseconds, at the local time `now`: positive if the clock of the service is ahead.
 *
 * @since 0.1.0
 * @category utilities
 */
export const clockSkew = (headers: Headers.Headers, now: number): Option.Option<number> =>
  Option.map(serviceTime(headers), (time) => time - now)
