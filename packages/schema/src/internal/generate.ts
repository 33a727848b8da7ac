/**
 * Constraints for generated values. These constraints do not change validation.
 */
import * as Schema from "effect/Schema"

/**
 * Limits generated objects to `maxProperties` keys. Without a maximum, Effect generates up to 10 keys, whose values may
 * be objects themselves.
 */
export const generateFew = (maxProperties: number) =>
  Schema.makeFilter<object>(() => true, { expected: "an object", arbitraryConstraint: { maxProperties } })
