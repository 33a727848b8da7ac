/**
 * Date-times as text. This is a separate module, because nearly every bundle needs the numbers of `Field`, but not the
 * dates.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { NonEmptyString, NonNegativeInt } from "../unstable/Field.ts"

/**
 * The instant of a UTC date-time in the format of `DateTime.formatIso`, or `None` if its day or time does not exist.
 * JavaScript reads 30 February as a day in March, so the instant is formatted and compared with the text.
 */
export const instantOf = (iso: string): Option.Option<DateTime.Utc> =>
  Option.filter(DateTime.make(iso), (instant) => DateTime.formatIso(instant) === iso)

const minSecond = -62_167_219_200
const maxSecond = 253_402_300_799

type Round = (seconds: number) => number

const isInRange = (date: unknown, round: Round): date is DateTime.Utc => {
  if (!DateTime.isDateTime(date) || !DateTime.isUtc(date)) return false
  const second = round(date.epochMilliseconds / 1000)
  return second >= minSecond && second <= maxSecond
}

/**
 * A UTC date-time that, after rounding to seconds, is in the years 0000 to 9999. The generator produces whole seconds.
 */
const moment = (round: Round) =>
  Schema.declare<DateTime.Utc>((u): u is DateTime.Utc => isInRange(u, round), {
    expected: "a UTC date-time, years 0000 to 9999",
    toCodecArbitrary: () =>
      Schema.link<DateTime.Utc>()(Schema.Int.check(Schema.isBetween({ minimum: minSecond, maximum: maxSecond })), {
        decode: SchemaGetter.transform((second) => DateTime.makeUnsafe(second * 1000)),
        encode: SchemaGetter.transform((date) => round(date.epochMilliseconds / 1000))
      })
  })

/**
 * A date-time as text that `pattern` matches. `toIso` and `fromIso` convert it to and from the format of
 * `DateTime.formatIso`, in whole seconds when it is written.
 */
const dateText = (
  pattern: RegExp,
  expected: string,
  [toIso, fromIso]: readonly [toIso: (text: string) => string, fromIso: (iso: string) => string],
  round: Round
) =>
  Schema.String.check(Schema.isPattern(pattern, { expected })).pipe(
    Schema.decodeTo(moment(round), {
      decode: SchemaGetter.transformEffect((text): Effect.Effect<DateTime.Utc, SchemaIssue.Issue> =>
        Option.match(instantOf(toIso(text)), {
          onNone: () => Effect.fail(new SchemaIssue.InvalidValue({ expected: "a valid calendar date" }, text)),
          onSome: Effect.succeed
        })
      ),
      encode: SchemaGetter.transform((date) =>
        fromIso(DateTime.formatIso(DateTime.makeUnsafe(round(date.epochMilliseconds / 1000) * 1000)).slice(0, 19))
      )
    })
  )

const listDate = (round: Round) =>
  dateText(
    /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/u,
    "a date-time YYYY-MM-DD HH:MM:SS",
    [(text) => `${text.replace(" ", "T")}.000Z`, (iso) => iso.replace("T", " ")],
    round
  )

/**
 * The start of the time range of a list request: a UTC date-time, written `Y-m-d H:i:s` (spec.md, "Retrieve list of
 * Assemblies").
 *
 * The text has whole seconds. A fraction of a second is rounded down, so that the time range never gets smaller.
 *
 * @example `2026-01-01 10:00:00`
 *
 * @since 0.1.0
 * @category schemas
 */
export const FromDate = listDate(Math.floor)

/**
 * The end of the time range of a list request, in the format of {@link FromDate}. A fraction of a second is rounded up.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ToDate = listDate(Math.ceil)

const serviceDate = /^(\d{4})[/-](\d{2})[/-](\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{3})\d*)?(?: ?GMT|Z)?$/u

const toIso = (text: string): string => {
  const [, year, month, day, time, millis = "000"] = serviceDate.exec(text) ?? []
  return `${year}-${month}-${day}T${time}.${millis}Z`
}

const fromIso = (iso: string): string => `${iso.replaceAll("-", "/").replace("T", " ")} GMT`

/**
 * A date of a resource. Encoding writes whole seconds, such as `2025/09/24 14:30:24 GMT`. Decoding also accepts hyphens
 * instead of slashes, ISO 8601 such as `2025-09-24T14:30:24.000Z`, and a text without a zone, which means UTC.
 */
export const ServiceDate = dateText(serviceDate, "a date such as 2025/09/24 14:30:24 GMT", [toIso, fromIso], Math.floor)

const isSince = (u: unknown): u is string | DateTime.Utc =>
  typeof u === "string" ? u !== "" : DateTime.isDateTime(u) && DateTime.isUtc(u)

const TextOrDateTime = Schema.declare(isSince, {
  expected: "at least 1 character or a DateTime.Utc",
  toCodecArbitrary: () =>
    // `moment`, or the parsers of `DateTime.makeUnsafe`, would add more to a bundle than the rest of the statistics.
    Schema.link<string | DateTime.Utc>()(Schema.Union([NonEmptyString, NonNegativeInt]), {
      decode: SchemaGetter.transform((since) =>
        // @effect-diagnostics-next-line globalDate:off
        typeof since === "string" ? since : DateTime.fromDateUnsafe(new Date(since % (maxSecond * 1000)))
      ),
      encode: SchemaGetter.transform((since) => (typeof since === "string" ? since : since.epochMilliseconds))
    })
})

/**
 * The start of a time window: a `DateTime.Utc`, which is sent as ISO 8601, or a text that the service can parse, which is
 * sent unchanged.
 *
 * Clause: spec.md, "Retrieve Assembly statistics".
 */
export const Since = NonEmptyString.pipe(
  Schema.decodeTo(TextOrDateTime, {
    decode: SchemaGetter.passthrough({ strict: false }),
    encode: SchemaGetter.transform((since) => (DateTime.isDateTime(since) ? DateTime.formatIso(since) : since))
  })
)
