/**
 * Finds the secrets in the params of operations whose responses contain secrets.
 */
import type * as Schema from "effect/Schema"

/** A shorter text does not count as a secret, because its removal would damage ordinary words in errors. */
const minLength = 4

/** All texts in a JSON value that are long enough to be secrets, without the keys of objects. */
const textsIn = (value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < minLength ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((part) => textsIn(part)) : []
}

/** For an operation with secrets in its response only: no param is a secret. */
export const inResponse = (): ReadonlyArray<string> => []

/** For an operation with secrets in its params too: the texts in `content` are secrets. */
export const inContent = ({ content }: Schema.JsonObject): ReadonlyArray<string> => textsIn(content)
