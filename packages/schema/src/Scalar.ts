/**
 * The number, date and string forms that several resources share.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"

// One check where several would do: statistics hold tens of thousands of these.
const isAtLeastZero = Schema.isGreaterThanOrEqualTo(0, { expected: "a number of at least 0" })

const isIntegerFrom = (minimum: number) =>
  Schema.makeFilter<number>((n) => n >= minimum && Number.isInteger(n), {
    expected: `an integer of at least ${minimum}`,
    arbitraryConstraint: { number: "integer", minimum, order: Order.Number },
    toJsonSchema: () => ({ type: "integer", minimum })
  })

/**
 * A finite number of at least 0: durations in seconds, speeds in megabits per second.
 *
 * Clause: spec.md, "Assembly statistics response".
 */
export const NonNegativeNumber = Schema.Finite.check(isAtLeastZero)

/**
 * An integer of at least 0, without an upper bound: the specification names none for counts and totals.
 *
 * Clause: spec.md, "Assembly statistics response".
 */
export const NonNegativeInt = Schema.Finite.check(isIntegerFrom(0))

/**
 * An integer of at least 1, without an upper bound.
 *
 * Clause: spec.md, "Assembly statistics response".
 */
export const PositiveInt = Schema.Finite.check(isIntegerFrom(1))

const isSafeFrom = (minimum: number) =>
  Schema.isBetween(
    { minimum, maximum: Number.MAX_SAFE_INTEGER },
    { expected: `an integer of ${minimum} to 9007199254740991` }
  )

/**
 * A size in bytes, 0 to 2^53 - 1 (spec.md, "asset object").
 */
export const ByteSize = Schema.Int.check(isSafeFrom(0))

/**
 * A width or height in pixels, 1 to 2^53 - 1 (spec.md, "asset object").
 */
export const PixelSize = Schema.Int.check(isSafeFrom(1))

/**
 * A string of at least one character.
 *
 * Clause: spec.md, "min length 1" wherever it stands.
 */
export const NonEmptyString = Schema.String.check(Schema.isNonEmpty({ expected: "at least 1 character" }))

/**
 * A moment as the service wrote it, with the instant that it names.
 *
 * The text is kept because it may hold more digits of a second than an instant does; encoding gives it back unchanged.
 */
export interface Timestamp {
  readonly text: string
  readonly instant: DateTime.Utc
}

const day = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])"
/** Every day that each year has: a generator of days needs no calendar with it. */
const commonDay =
  "\\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
const time = "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?"

const isDateTimeText = (zone: string, expected: string) =>
  Schema.isPattern(new RegExp(`^${day}T${time}${zone}$`, "u"), {
    expected,
    arbitraryConstraint: { patterns: [{ source: `^${commonDay}T${time}${zone}$`, flags: "" }] }
  }).abort()

/** JavaScript reads 30 February as 2 March; the day that comes out tells. */
const isCalendarDay = (text: string): boolean =>
  Option.exists(DateTime.make(`${text.slice(0, 10)}T00:00:00.000Z`), (instant) =>
    DateTime.formatIso(instant).startsWith(text.slice(0, 10))
  )

const isRealDay = Schema.makeFilter<string>(isCalendarDay, { expected: "a day of the calendar" })

/** The instant of a text in the form of a timestamp, unless its day is not in the calendar. */
const parseTimestamp = (text: string): Option.Option<Timestamp> =>
  isCalendarDay(text) ? Option.map(DateTime.make(text), (instant) => ({ text, instant })) : Option.none()

/**
 * An ISO 8601 date-time with `Z` or an offset, as it is sent in `auth.expires`.
 *
 * Clause: spec.md, "Authentication".
 *
 * @example `2026-01-01T10:00:00.000Z`, `2026-01-01T10:00:00+02:00`
 */
export const IsoDateTime = Schema.String.check(
  isDateTimeText("(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)", "an ISO 8601 date-time with Z or an offset"),
  isRealDay
)

const TimestampText = Schema.String.check(isDateTimeText("Z", "an ISO 8601 date-time ending in Z"), isRealDay)

const isTimestamp = (u: unknown): u is Timestamp =>
  typeof u === "object" &&
  u !== null &&
  "text" in u &&
  "instant" in u &&
  typeof u.text === "string" &&
  DateTime.isDateTime(u.instant) &&
  Option.exists(parseTimestamp(u.text), ({ instant }) => DateTime.Equivalence(instant, u.instant as DateTime.Utc))

const timestampFromText = {
  decode: SchemaGetter.transform((text: string) => Option.getOrThrow(parseTimestamp(text))),
  encode: SchemaGetter.transform((timestamp: Timestamp) => timestamp.text)
}

/**
 * A UTC ISO 8601 date-time ending in `Z`, seconds and fraction optional (spec.md, "Move/rename response body").
 *
 * @example `2026-01-01T10:00Z`, `2026-01-01T10:00:00.123Z`
 */
export const Timestamp = TimestampText.pipe(
  Schema.decodeTo(
    Schema.declare<Timestamp>(isTimestamp, {
      identifier: "Timestamp",
      expected: "a moment with its text",
      toCodecArbitrary: () => Schema.link<Timestamp>()(TimestampText, timestampFromText),
      toCodecJson: () => Schema.link<Timestamp>()(TimestampText, timestampFromText)
    }),
    timestampFromText
  )
)

const minSecond = -62_167_219_200
const maxSecond = 253_402_300_799

const isUtcSecond = (u: unknown): u is DateTime.Utc =>
  DateTime.isDateTime(u) &&
  DateTime.isUtc(u) &&
  u.epochMilliseconds % 1000 === 0 &&
  u.epochMilliseconds >= minSecond * 1000 &&
  u.epochMilliseconds <= maxSecond * 1000

const UtcSecond = Schema.declare<DateTime.Utc>(isUtcSecond, {
  expected: "a UTC date-time in whole seconds (round it first), years 0000 to 9999",
  toCodecArbitrary: () =>
    Schema.link<DateTime.Utc>()(Schema.Int.check(Schema.isBetween({ minimum: minSecond, maximum: maxSecond })), {
      decode: SchemaGetter.transform((second) => DateTime.makeUnsafe(second * 1000)),
      encode: SchemaGetter.transform((date) => date.epochMilliseconds / 1000)
    })
})

const parseListDate = (text: string): Effect.Effect<DateTime.Utc, SchemaIssue.Issue> => {
  const iso = `${text.replace(" ", "T")}.000Z`
  const date = DateTime.make(iso)
  return Option.isSome(date) && DateTime.formatIso(date.value) === iso
    ? Effect.succeed(date.value)
    : Effect.fail(new SchemaIssue.InvalidValue({ expected: "a day of the calendar" }, text))
}

/**
 * A UTC date-time in whole seconds, written `Y-m-d H:i:s` (spec.md, "Retrieve list of Assemblies").
 *
 * A fraction of a second has no place in the text, so it is refused instead of dropped.
 *
 * @example `2026-01-01 10:00:00`
 */
export const ListDate = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/u, { expected: "a date-time as Y-m-d H:i:s" })
).pipe(
  Schema.decodeTo(UtcSecond, {
    decode: SchemaGetter.transformEffect(parseListDate),
    encode: SchemaGetter.transform((date) => DateTime.formatIso(date).slice(0, 19).replace("T", " "))
  })
)
