/**
 * Annotations for the generators of values. These annotations do not change validation.
 */
import * as Schema from "effect/Schema"

/**
 * Generates objects with at most `maxProperties` keys. Effect's default generates dozens of keys, each with a nested
 * value.
 */
export const generateFew = (maxProperties: number) =>
  Schema.makeFilter<object>(() => true, { expected: "an object", arbitraryConstraint: { maxProperties } })
