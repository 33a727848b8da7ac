/**
 * The secrets in the params of operations whose responses contain secrets.
 */
import type * as Schema from "effect/Schema"

/** All texts in a value of JSON, except keys. */
const textsIn = (value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((part) => textsIn(part)) : []
}

/** No param is a secret. */
export const inResponse = (): ReadonlyArray<string> => []

/** The texts in `content` are secrets. */
export const inContent = ({ content }: Schema.JsonObject): ReadonlyArray<string> => textsIn(content)
