/**
 * Constraints for generated values. These constraints do not change validation.
 */
import * as Schema from "effect/Schema"

/**
 * Limits generated objects to `maxProperties` keys. Without a maximum, Effect generates up to 10 keys, each with a
 * nested value.
 */
export const generateFew = (maxProperties: number) =>
  Schema.makeFilter<object>(() => true, { expected: "an object", arbitraryConstraint: { maxProperties } })
