/**
 * The secrets in the params of operations whose responses contain secrets.
 */
import type * as Schema from "effect/Schema"

/** A shorter text is no secret. Without it, errors would lose parts of ordinary words. */
const minLength = 4

/** All texts in a value of JSON that may be secrets. Keys are not. */
const textsIn = (value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < minLength ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((part) => textsIn(part)) : []
}

/** No param is a secret. */
export const inResponse = (): ReadonlyArray<string> => []

/** The texts in `content` are secrets. */
export const inContent = ({ content }: Schema.JsonObject): ReadonlyArray<string> => textsIn(content)
