/**
 * Schemas of the data among the options of Layers and Effects. Options are decoded where the Layer or Effect is made.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaParser from "effect/SchemaParser"
import type { InvalidRequest, Issue } from "../InvalidRequest.ts"
import * as Input from "./Input.ts"

/** The keys of a duration that is an object. */
const units = new Set(["weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"])

/**
 * Reads a duration. `Duration` would read a NaN and an object without known keys as zero, so these are no durations.
 */
const read = (input: unknown): Option.Option<Duration.Duration> => {
  if (typeof input === "object" && input !== null && !Duration.isDuration(input)) {
    const parts = Object.entries(input).filter(([, part]) => part !== undefined)
    const isKnown = ([key, part]: [string, unknown]) =>
      typeof part === "number" && !Number.isNaN(part) && (Array.isArray(input) || units.has(key))
    if (parts.length === 0 || !parts.every(isKnown)) return Option.none()
  }
  return Number.isNaN(input) ? Option.none() : Duration.fromInput(input as Duration.Input)
}

/**
 * A finite duration, in milliseconds in JSON. `Schema.Duration` would add its codec for `bigint` to a bundle.
 *
 * @since 0.1.0
 * @category schemas
 */
export const elapsed = Schema.declare(Duration.isDuration, {
  expected: "Duration",
  toCodecJson: () =>
    Schema.link<Duration.Duration>()(Schema.Finite, {
      decode: SchemaGetter.transform(Duration.millis),
      encode: SchemaGetter.transform(Duration.toMillis)
    })
})

const durationOf = (expected: string, isValid: (time: Duration.Duration) => boolean) =>
  Schema.declare((input): input is Duration.Input => Option.exists(read(input), isValid), { expected }).pipe(
    Schema.decodeTo(elapsed, {
      decode: SchemaGetter.transform(Duration.fromInputUnsafe),
      encode: SchemaGetter.passthroughSubtype()
    })
  )

/** In milliseconds: 100 years. A date that is further away cannot be represented. */
const longest = 36_500 * 86_400_000

const isShort = (time: Duration.Duration) => Duration.toMillis(time) <= longest

/**
 * A duration above zero, at most 100 years.
 *
 * @since 0.1.0
 * @category schemas
 */
export const duration = durationOf(
  "a finite duration above zero, at most 100 years",
  (time) => Duration.toMillis(time) > 0 && isShort(time)
)

/**
 * A duration of at least zero, at most 100 years.
 *
 * @since 0.1.0
 * @category schemas
 */
export const pause = durationOf(
  "a finite duration of at least zero, at most 100 years",
  (time) => Duration.toMillis(time) >= 0 && isShort(time)
)

/**
 * How long something is kept: a {@link duration}, or `"Infinity"` for ever.
 *
 * @since 0.1.0
 * @category schemas
 */
export const expiry = durationOf(
  "a duration above zero, at most 100 years, or Infinity",
  (time) => Duration.toMillis(time) > 0 && (isShort(time) || !Duration.isFinite(time))
)

/**
 * A whole number from `least` to `most`, such as a number of connections or a size in bytes.
 *
 * @since 0.1.0
 * @category schemas
 */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  Schema.Number.check(
    Schema.makeFilter((n) => Number.isSafeInteger(n) && n >= least && n <= most, {
      expected: `a whole number of at least ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` and at most ${most}`}`
    })
  )

/**
 * A text that is not blank.
 *
 * @since 0.1.0
 * @category schemas
 */
export const notBlank = Schema.String.check(
  Schema.makeFilter((text) => text.trim() !== "", { expected: "a non-blank string" })
)

/**
 * The path of a route.
 *
 * @since 0.1.0
 * @category schemas
 */
export const path = Schema.TemplateLiteral(["/", Schema.String])

/**
 * Makes the function that returns the rules that options break. Keys that the schema does not have are left out.
 *
 * @example Options.checker(Schema.Struct({ uploads: Schema.optional(Options.whole(1)) }))
 *
 * @since 0.1.0
 * @category constructors
 */
export const checker = (schema: Schema.ConstraintDecoder<unknown>) => {
  const decode = SchemaParser.decodeUnknownResult(schema, { errors: "all" })
  return (options: unknown): ReadonlyArray<Issue> =>
    Result.match(decode(options), { onSuccess: () => [], onFailure: (issue) => Input.fromSchemaIssue(issue) })
}

/**
 * Makes the function that decodes options. Keys that the schema does not have, such as functions, are left out. All
 * broken rules are in one `InvalidRequest`, whose `operation` is `name`.
 *
 * @example Options.decoder("UploadJournal", Schema.Struct({ expiry: Schema.optional(Options.expiry) }))
 *
 * @since 0.1.0
 * @category constructors
 */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(name: string, schema: S) => {
  const decode = SchemaParser.decodeUnknownEffect(schema, { errors: "all" })
  return (options: unknown): Effect.Effect<S["Type"], InvalidRequest> =>
    Effect.mapError(decode(options), (issue) => Input.invalidRequest(name, issue))
}
