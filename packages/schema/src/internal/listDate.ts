/**
 * The date-times of a list request, apart from the numbers, which nearly every bundle needs.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"

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
