import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

const isArray = (value: Schema.Json): value is Schema.JsonArray => Array.isArray(value)

const isObject = (value: Schema.Json): value is Schema.JsonObject => Predicate.isObject(value)

/** Reads an own property, because a client may send a key such as `constructor`. */
const own = (object: Schema.JsonObject, key: string): Schema.Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

const mergeValues = (base: Schema.Json | undefined, over: Schema.Json | undefined): Schema.Json => {
  if (over === undefined || over === null) return base ?? null
  if (base === undefined || base === null) return over
  if (isArray(base) && isArray(over)) {
    return Array.from({ length: Math.max(base.length, over.length) }, (_, index) =>
      mergeValues(base[index], over[index])
    )
  }
  return isObject(base) && isObject(over) ? merge(base, over) : over
}

/** Merges objects by key and arrays by index. A value in `over` takes precedence, unless the value is null. */
export const merge = (base: Schema.JsonObject, over: Schema.JsonObject): Schema.JsonObject =>
  Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(over)])].map((key) => [
      key,
      mergeValues(own(base, key), own(over, key))
    ])
  )

/** Removes the keys whose value is null. */
export const withoutNulls = (object: Schema.JsonObject): Schema.JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
