/**
 * What came of a request. The status, the body and the headers of a response say whether the request was carried out, and
 * how long to wait. The pauses are beyond the specification, which defines no rate limits.
 */
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/**
 * A request without a complete response. The error contains neither the URL nor the content of the request.
 *
 * - `description`: the description of the failure.
 * - `code`: the error code that the HTTP client reports, if any, such as `ECONNREFUSED`, or a code of this package:
 *   `REQUEST_REPEATED`, `REQUEST_REDIRECTED`, `BODY_CHANGED`, `BODY_READ_TWICE`, `STREAM_UNSUPPORTED`.
 * - `sent`: is `no` if no byte of the request was sent, and `maybe` if the service may have received the request.
 * - `permanent`: whether the same request would fail again in the same way.
 *
 * @since 0.1.0
 * @category errors
 */
export class Lost extends Data.TaggedError("Lost")<{
  readonly description: string
  readonly code?: string | undefined
  readonly sent: "no" | "maybe"
  readonly permanent: boolean
}> {}

/**
 * The body of an error, as far as it could be read. If `description` is undefined, `text` is the whole body as valid UTF-8.
 * If `description` is defined, `text` is the part of the body that could be read, with replacement characters for invalid
 * UTF-8. This part may contain a credential, or end in the middle of a credential.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorText {
  readonly text: string
  readonly description: string | undefined
}

/**
 * A response whose body was read as far as it could be, within a limit of bytes. `end` says how the body ended: it is
 * `whole`; it is `tooLarge`, and `bytes` includes the chunk that exceeds the limit; it did not end in time (`late`); or
 * the connection was lost.
 *
 * @since 0.1.0
 * @category models
 */
export interface Gathered {
  readonly status: number
  readonly headers: Headers.Headers
  readonly bytes: Uint8Array
  readonly end: "whole" | "tooLarge" | "late" | Lost
}

/**
 * Whether a status is a redirect. A browser reports a redirect that it did not follow as status 0.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/**
 * Whether a status is a success: any 2xx, because the specification does not name the exact status of most operations
 * (spec.md, "Endpoints").
 *
 * @since 0.1.0
 * @category predicates
 */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/**
 * Statuses from 400 to 499 that do not refuse a request for good. After 408, 409, 425 and 499 it is unknown whether the
 * request was carried out. After 429 and 423 it was not carried out, but may be sent again.
 */
const openBelow500: ReadonlySet<number> = new Set([408, 409, 423, 425, 429, 499])

/**
 * Whether a status refuses a request for good, so that the request was not carried out: 501, or a 4xx other than 408,
 * 409, 423, 425, 429 and 499. After 429 and 423 the request was not carried out either, but may be sent again. After
 * any other error status, it is unknown whether the request was carried out, whatever the body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRefusal = (status: number): boolean =>
  status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))

/**
 * The time for the body of a response that is not a success, in milliseconds.
 *
 * @since 0.1.0
 * @category utilities
 */
export const restMillis = 5_000

const strict = new TextDecoder("utf-8", { fatal: true })
const lenient = new TextDecoder()

/**
 * The text of a body, or as much of it as was read. `maxBytes` is the limit with which the body was gathered.
 *
 * @since 0.1.0
 * @category utilities
 */
export const textOf = ({ bytes, end }: Pick<Gathered, "bytes" | "end">, maxBytes: number): ErrorText => {
  const broken = (description: string): ErrorText => ({
    text: lenient.decode(bytes.subarray(0, maxBytes)),
    description
  })
  switch (end) {
    case "whole":
      try {
        return { text: strict.decode(bytes), description: undefined }
      } catch {
        return broken("a body that is not UTF-8")
      }
    case "tooLarge":
      return broken(`a body of more than ${maxBytes} bytes`)
    case "late":
      return broken(`a body that did not end within ${restMillis / 1000} s`)
    default:
      return broken("an incomplete body")
  }
}

/**
 * Parses a JSON text. Returns `None` if the text is not JSON or is nested deeper than `Json.maxDepth`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseJson = (text: string): Option.Option<unknown> => Result.getSuccess(Json.parse(text))

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
export const wait = (headers: Headers.Headers, body: unknown, now: number): Option.Option<Duration.Duration> => {
  const millis = Math.max(...[retryAfter(headers, now), retryIn(body)].filter((one) => one >= 0))
  // A sum of waits is finite too.
  return millis < 0 ? Option.none() : Option.some(Duration.millis(Math.min(millis, Number.MAX_SAFE_INTEGER)))
}

/**
 * The clock skew in milliseconds, at the local time `now`: positive if the clock of the service is ahead.
 *
 * @since 0.1.0
 * @category utilities
 */
export const clockSkew = ({ date }: Headers.Headers, now: number): Option.Option<number> =>
  Option.filter(Option.some(parseDate(date) - now), (skew) => !Number.isNaN(skew))
