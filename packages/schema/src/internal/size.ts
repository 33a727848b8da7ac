/**
 * Sizes and counts that a JavaScript number represents exactly. This is a separate module, because nearly every bundle needs the
 * numbers of `Scalar`, but not the sizes.
 */
import * as Schema from "effect/Schema"

const isSafeFrom = (minimum: number) =>
  Schema.isBetween(
    { minimum, maximum: Number.MAX_SAFE_INTEGER },
    { expected: `an integer of ${minimum} to 9007199254740991` }
  )

/**
 * A size in bytes, 0 to 2^53 - 1 (spec.md, "asset object").
 *
 * @since 0.1.0
 * @category schemas
 */
export const ByteSize = Schema.Int.check(isSafeFrom(0))

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
export const PixelSize = Schema.Int.check(isSafeFrom(1))
