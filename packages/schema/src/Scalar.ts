/**
 * The number, date and string forms that several resources share.
 */
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"

// Each in a module of its own, so that a bundle holds only what its operations use.
export { FromDate, ToDate } from "./internal/listDate.ts"
export { ByteSize, PixelSize } from "./internal/size.ts"
export { IsoDateTime, Timestamp } from "./Timestamp.ts"

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
 *
 * @since 0.1.0
 * @category schemas
 */
export const NonNegativeNumber = Schema.Finite.check(isAtLeastZero)

/**
 * An integer of at least 0, without an upper bound: the specification names none for counts and totals.
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
 * Clause: spec.md, "min length 1" wherever it stands.
 *
 * @since 0.1.0
 * @category schemas
 */
export const NonEmptyString = Schema.String.check(Schema.isNonEmpty({ expected: "at least 1 character" }))
