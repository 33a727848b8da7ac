/**
 * Date-times in ISO 8601. This is a separate module, because nearly every bundle needs the numbers of `Field`, but not
 * the dates.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { instantOf } from "../internal/date.ts"

/**
 * A date-time: the text that the service wrote, and its instant.
 *
 * The text is kept because it may have more fractional digits than the instant. Encoding returns the text unchanged.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timestamp {
  readonly text: string
  readonly instant: DateTime.Utc
}

const day = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])"
/** Matches the days that exist in every year. A generator that uses only these days needs no calendar. */
const commonDay =
  "\\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
const time = "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?"

const isDateTimeText = (zone: string, expected: string) =>
  Schema.isPattern(new RegExp(`^${day}T${time}${zone}$`, "u"), {
    expected,
    arbitraryConstraint: { patterns: [{ source: `^${commonDay}T${time}${zone}$`, flags: "" }] }
  }).abort()

const isCalendarDay = (text: string): boolean => Option.isSome(instantOf(`${text.slice(0, 10)}T00:00:00.000Z`))

const isRealDay = Schema.makeFilter<string>(isCalendarDay, { expected: "a valid calendar date" })

/** Parses the text of a timestamp. Returns `None` if the day of the text does not exist. */
const parseTimestamp = (text: string): Option.Option<Timestamp> =>
  isCalendarDay(text) ? Option.map(DateTime.make(text), (instant) => ({ text, instant })) : Option.none()

/**
 * An ISO 8601 date-time with `Z` or an offset, the format of `auth.expires`.
 *
 * Clause: spec.md, "Authentication".
 *
 * @example `2026-01-01T10:00:00.000Z`, `2026-01-01T10:00:00+02:00`
 *
 * @since 0.1.0
 * @category schemas
 */
export const IsoDateTime = Schema.String.check(
  isDateTimeText("(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)", "an ISO 8601 date-time with Z or an offset"),
  isRealDay
)

const TimestampText = Schema.String.check(isDateTimeText("Z", "an ISO 8601 date-time ending in Z"), isRealDay)

const isTimestamp = (u: unknown): u is Timestamp => {
  const { instant, text }: { readonly instant?: unknown; readonly text?: unknown } = Object(u)
  if (typeof text !== "string" || !DateTime.isDateTime(instant)) return false
  return Option.exists(parseTimestamp(text), (parsed) => DateTime.Equivalence(parsed.instant, instant))
}

const timestampFromText = {
  decode: SchemaGetter.transform((text: string) => Option.getOrThrow(parseTimestamp(text))),
  encode: SchemaGetter.transform((timestamp: Timestamp) => timestamp.text)
}

/**
 * A UTC ISO 8601 date-time that ends in `Z`, with optional seconds and fraction (spec.md, "Move/rename response body").
 *
 * @example `2026-01-01T10:00Z`, `2026-01-01T10:00:00.123Z`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Timestamp = TimestampText.pipe(
  Schema.decodeTo(
    Schema.declare<Timestamp>(isTimestamp, {
      identifier: "Timestamp",
      expected: "a Timestamp",
      toCodecArbitrary: () => Schema.link<Timestamp>()(TimestampText, timestampFromText),
      toCodecJson: () => Schema.link<Timestamp>()(TimestampText, timestampFromText)
    }),
    timestampFromText
  )
)
