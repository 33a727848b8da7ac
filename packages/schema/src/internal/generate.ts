/**
 * Hints for the generation of values. They refuse nothing.
 */
import * as Schema from "effect/Schema"

/**
 * Generates objects of at most `maxProperties` keys: Effect's own measure makes dozens, each with a nested value.
 */
export const generateFew = (maxProperties: number) =>
  Schema.makeFilter<object>(() => true, { expected: "an object", arbitraryConstraint: { maxProperties } })
