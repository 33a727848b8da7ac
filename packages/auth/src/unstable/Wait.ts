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

/**
 * The wait that the body names in `info.retryIn`, converted from seconds to milliseconds, or NaN. Beyond the
 * specification.
 */
const retryIn = (body: unknown): number => {
  const seconds = propertyOf(propertyOf(body, "info"), "retryIn")
  return Number.isFinite(seconds) ? Number(seconds) * 1000 : NaN
}

/** The three date formats of RFC 9110, 5.6.7. The third format names no zone; its zone is GMT. */
const httpDate =
  /^(?:[a-z]{3}, \d{2} [a-z]{3} \d{4}|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2}) \d{2}:\d{2}:\d{2} GMT$|^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i

/**
 * Parses an HTTP date into milliseconds since 1970, or NaN. `Headers.parseHttpDate` is not used, because it returns a
 * `DateTime`, which would add calendars and time zones to a bundle.
 */
const parseDate = (text = ""): number => {
  const trimmed = text.trim()
  return httpDate.test(trimmed) ? Date.parse(trimmed.replace(/( GMT)?$/i, " GMT")) : NaN
}

/**
 * The wait in `Retry-After`, in milliseconds, or NaN. If the header contains a date and the response has a `Date`, the
 * wait is the difference between these two times, so that a wrong local clock has no effect.
 */
const retryAfter = (headers: Headers.Headers, now: number): number => {
  const header = headers["retry-after"]?.trim()
  if (header !== undefined && /^\d+$/.test(header)) return Number(header) * 1000
  const date = parseDate(headers["date"])
  return Math.max(0, parseDate(header) - (Number.isNaN(date) ? now : date))
}

/**
 * The pause that a response requests, at the time `now` (in milliseconds since 1970). If the body and `Retry-After` name
 * different pauses, the longer pause counts. The pause is always finite, but may be extremely long, so the caller needs
 * a maximum.
 *
 * @since 0.1.0
 * @category utilities
 */
export const named = (headers: Headers.Headers, body: unknown, now: number): Option.Option<Duration.Duration> => {
  const wait = Math.max(...[retryAfter(headers, now), retryIn(body)].filter((millis) => millis >= 0))
  // A sum of waits is finite too.
  return wait < 0 ? Option.none() : Option.some(Duration.millis(Math.min(wait, Number.MAX_SAFE_INTEGER)))
}

/**
 * The clock skew in milliseconds, at the local time `now`: positive if the clock of the service is ahead.
 *
 * @since 0.1.0
 * @category utilities
 */
export const clockSkew = ({ date }: Headers.Headers, now: number): Option.Option<number> =>
  Option.filter(Option.some(parseDate(date) - now), (skew) => !Number.isNaN(skew))
