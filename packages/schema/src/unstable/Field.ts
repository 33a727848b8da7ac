/**
 * The fields of requests and responses: numbers and texts that several resources share, and what a field does with a
 * value of the wrong type.
 */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

// One check is faster than separate checks for the minimum and for an integer, and statistics contain tens of thousands
// of integers.
const isIntegerFrom = (minimum: number) =>
  Schema.makeFilter<number>((n) => n >= minimum && Number.isInteger(n), {
    expected: `an integer of at least ${minimum}`,
    arbitraryConstraint: { number: "integer", minimum, order: Order.Number },
    toJsonSchema: () => ({ type: "integer", minimum })
  })

/**
 * The id of an Assembly: 32 lowercase hexadecimal digits.
 *
 * @since 0.1.0
 * @category utilities
 */
export const idPattern = /^[a-f0-9]{32}$/u

/**
 * A finite number of at least 0, such as a duration in seconds or a speed in megabits per second.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const NonNegativeNumber = Schema.Finite.check(
  Schema.isGreaterThanOrEqualTo(0, { expected: "a number of at least 0" })
)

/**
 * An integer of at least 0, without an upper bound, because the specification sets no limit for counts and totals.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const NonNegativeInt = Schema.Finite.check(isIntegerFrom(0))

/**
 * An integer of at least 1, without an upper bound.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const PositiveInt = Schema.Finite.check(isIntegerFrom(1))

/**
 * A string of at least one character.
 *
 * Clause: every "min length 1" of spec.md.
 *
 * @since 0.1.0
 * @category schemas
 */
export const NonEmptyString = Schema.String.check(
  // `Schema.isNonEmpty` would add the code of all length checks to a bundle.
  Schema.makeFilter((text) => text !== "", {
    expected: "at least 1 character",
    arbitraryConstraint: { minLength: 1 },
    toJsonSchema: () => ({ minLength: 1 })
  })
)

/**
 * An integer of a range, which contains both of its ends.
 *
 * @since 0.1.0
 * @category schemas
 */
export const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected: `an integer of ${minimum} to ${maximum}` }))

/**
 * A size in bytes, 0 to 2^53 - 1 (spec.md, "asset object").
 *
 * @since 0.1.0
 * @category schemas
 */
export const ByteSize = between(0, Number.MAX_SAFE_INTEGER)

/**
 * A number of things, such as files, 0 to 2^53 - 1. A larger number has no exact successor, so it counts nothing.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Count = ByteSize

/**
 * A width or height in pixels, 1 to 2^53 - 1 (spec.md, "asset object").
 *
 * @since 0.1.0
 * @category schemas
 */
export const PixelSize = between(1, Number.MAX_SAFE_INTEGER)

/**
 * A regular expression.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RegularExpression = Schema.String.check(
  Schema.makeFilter<string>((text) => Result.isSuccess(Result.try(() => new RegExp(text))), {
    expected: "a valid regular expression",
    arbitraryConstraint: {
      patterns: [{ source: "^(?:[a-z0-9]{1,8}(?:\\\\\\.|\\.\\*|[/-])){0,4}[a-z]{1,3}$", flags: "" }]
    }
  })
)

/**
 * A key that is absent if its value does not decode, so that the other fields of a response stay readable. For example, a
 * malformed `region` must not hide the state of an Assembly.
 *
 * Fields without which the resource would have a different meaning, such as `assembly_id`, `ok` and `error` of a Status,
 * are not optional in this way: a value of the wrong type in such a field is an error.
 *
 * @since 0.1.0
 * @category combinators
 */
export const orAbsent = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.catchDecoding<S>(() => Effect.succeedNone)(schema))

/**
 * A key that may be null, and is absent if its value does not decode.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient = <S extends Schema.Constraint>(schema: S) => orAbsent(Schema.NullOr(schema))

/** A boolean that the service may write as 0 and 1. */
const Bit = Schema.Union([Schema.Literals([0, 1]), Schema.Boolean])

const fromBit = (encode: (value: boolean) => typeof Bit.Type) =>
  Bit.pipe(
    Schema.decodeTo(Schema.Boolean, {
      decode: SchemaGetter.transform((bit) => bit === 1 || bit === true),
      encode: SchemaGetter.transform(encode)
    })
  )

/**
 * A boolean that is encoded as 0 or 1. Decoding also accepts true and false.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Flag = fromBit((value) => (value ? 1 : 0))

/**
 * A boolean that is encoded as true or false. Decoding also accepts 0 and 1.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Switch = fromBit((value) => value)

/**
 * Redacts the decoded value of a schema under a label. Encoding accepts any label, because a program may redact a value
 * under another label. `Schema.RedactedFromValue` with a label would refuse that value.
 *
 * @since 0.1.0
 * @category combinators
 */
export const secret = <A, I>(schema: Schema.Codec<A, I>, label: string) =>
  schema.pipe(
    Schema.decodeTo(Schema.Redacted(Schema.toType(schema)), {
      decode: SchemaGetter.transform((value: A) => Redacted.make(value, { label })),
      encode: SchemaGetter.transform((redacted: Redacted.Redacted<A>) => Redacted.value(redacted))
    })
  )

/**
 * Limits generated objects to `maxProperties` keys, and changes no validation. Without a maximum, Effect generates up to
 * 10 keys, whose values may be objects themselves.
 *
 * @since 0.1.0
 * @category combinators
 */
export const generateFew = (maxProperties: number) =>
  Schema.makeFilter<object>(() => true, { expected: "an object", arbitraryConstraint: { maxProperties } })
