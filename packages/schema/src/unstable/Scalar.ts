/**
 * Numbers and strings that several resources share.
 */
import * as Order from "effect/Order"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const isAtLeastZero = Schema.isGreaterThanOrEqualTo(0, { expected: "a number of at least 0" })

// One check is faster than separate checks for the minimum and for an integer, and statistics contain tens of thousands
// of integers.
const isIntegerFrom = (minimum: number) =>
  Schema.makeFilter<number>((n) => n >= minimum && Number.isInteger(n), {
    expected: `an integer of at least ${minimum}`,
    arbitraryConstraint: { number: "integer", minimum, order: Order.Number },
    toJsonSchema: () => ({ type: "integer", minimum })
  })

/**
 * A finite number of at least 0, such as a duration in seconds or a speed in megabits per second.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const NonNegativeNumber = Schema.Finite.check(isAtLeastZero)

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
