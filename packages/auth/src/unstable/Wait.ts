/**
 * Reads the pauses that a response requests, and the clock skew from its `Date` header. Beyond the specification, which
 * defines no rate limits.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Reads `info.retryIn` of the body, in seconds. Beyond the specification. */
const decodeRetryIn = Schema.decodeUnknownOption(
  Schema.Struct({ info: Schema.Struct({ retryIn: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) }) })
)

/** In milliseconds. */
const retryIn = (body: unknown): Option.Option<number> =>
  Option.map(decodeRetryIn(body), ({ info }) => info.retryIn * 1000)

/** The time of the service when it responded, in milliseconds. */
const serviceTime = (headers: Headers.Headers): Option.Option<number> => {
  const { date } = headers
  if (date === undefined) return Option.none()
  return Option.map(Result.getSuccess(Headers.parseHttpDate(date)), ({ epochMilliseconds }) => epochMilliseconds)
}

/**
 * In milliseconds. A date is compared with the `Date` of the response if there is one, so that a wrong local clock does
 * not matter.
 */
const retryAfter = (headers: Headers.Headers, now: number): Option.Option<number> => {
  const header = headers["retry-after"]
  if (header === undefined) return Option.none()
  return Option.map(Result.getSuccess(Headers.parseRetryAfter(header)), (parsed) =>
    Duration.toMillis(
      Headers.retryAfterDelay(
        parsed,
        Option.getOrElse(serviceTime(headers), () => now)
      )
    )
  )
}

/** In milliseconds. Nobody waits longer than this, and sums with it stay finite. */
const longest = Number.MAX_SAFE_INTEGER

/**
 * The pause that a response requests in its body or in `Retry-After`; the longer of the two. It is always finite, but
 * may be extremely long, so the caller needs a maximum.
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
 * The clock skew in milliseconds: positive if the clock of the service is ahead of the local clock.
 *
 * @since 0.1.0
 * @category utilities
 */
export const clockSkew = (headers: Headers.Headers): Effect.Effect<Option.Option<number>> =>
  Effect.map(Clock.currentTimeMillis, (now) => Option.map(serviceTime(headers), (time) => time - now))
