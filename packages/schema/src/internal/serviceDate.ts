/**
 * The dates of resources, such as `2025/09/24 14:30:24 GMT`.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { instantOf, moment } from "./listDate.ts"

const pattern = /^(\d{4})[/-](\d{2})[/-](\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{3})\d*)?(?: ?GMT|Z)?$/u

const parse = (text: string): Effect.Effect<DateTime.Utc, SchemaIssue.Issue> => {
  const [, year, month, day, time, millis = "000"] = pattern.exec(text) ?? []
  return Option.match(instantOf(`${year}-${month}-${day}T${time}.${millis}Z`), {
    onNone: () => Effect.fail(new SchemaIssue.InvalidValue({ expected: "a day of the calendar" }, text)),
    onSome: Effect.succeed
  })
}

const format = (date: DateTime.Utc): string =>
  `${DateTime.formatIso(date).slice(0, 19).replaceAll("-", "/").replace("T", " ")} GMT`

/**
 * A date of a resource. Encoding writes whole seconds, such as `2025/09/24 14:30:24 GMT`. Decoding also accepts hyphens
 * instead of slashes, ISO 8601 such as `2025-09-24T14:30:24.000Z`, and a text without a zone, which means UTC.
 */
export const ServiceDate = Schema.String.check(
  Schema.isPattern(pattern, { expected: "a date such as 2025/09/24 14:30:24 GMT" })
).pipe(
  Schema.decodeTo(moment(Math.floor), {
    decode: SchemaGetter.transformEffect(parse),
    encode: SchemaGetter.transform(format)
  })
)
