/**
 * The inputs of operations and their validation errors.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { InvalidRequest, type Issue } from "../InvalidRequest.ts"
import * as Json from "./Json.ts"

/**
 * The schema of the params of an operation without params, and of the form fields of an operation without form fields.
 *
 * @since 0.1.0
 * @category utilities
 */
export const nothing = Schema.Struct({})

/** An unknown key is an error, because the key would not be sent. */
const closed = { errors: "all", onExcessProperty: "error" } as const

// The value of an unknown key may be a secret, so the message does not repeat it.
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "UnexpectedKey" ? "Unknown key" : SchemaIssue.defaultLeafHook(issue))
})

const isKey = (key: unknown): key is string | number => typeof key === "string" || typeof key === "number"

/**
 * The issues of a schema as plain data. The path of each issue begins with `below`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const fromSchemaIssue = (issue: SchemaIssue.Issue, below: ReadonlyArray<string> = []): ReadonlyArray<Issue> =>
  format(issue).issues.map(({ message, path = [] }) => ({
    message,
    path: [...below, ...path].map((segment) => (typeof segment === "object" ? segment.key : segment)).filter(isKey)
  }))

/**
 * Puts a path before the paths of issues.
 *
 * @since 0.1.0
 * @category utilities
 */
export const under = (path: Issue["path"], issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> =>
  issues.map((issue) => ({ message: issue.message, path: [...path, ...issue.path] }))

/**
 * Converts an issue of the input's schema to `InvalidRequest`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const invalidRequest = (operation: string, issue: SchemaIssue.Issue): InvalidRequest =>
  new InvalidRequest({ operation, issues: fromSchemaIssue(issue) })

/**
 * Whether a value is an object with keys. A schema reads a Map, a Set and other collections as an object without keys.
 *
 * @since 0.1.0
 * @category guards
 */
export const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(Symbol.iterator in value)

/**
 * Adds an issue for each collection in a value, and returns the number of levels of the value: `Infinity` if a value
 * contains itself or has more than `room` levels. `known` contains the levels of each object that was seen.
 */
const levels = (
  value: unknown,
  path: ReadonlyArray<string>,
  issues: Array<Issue>,
  known = new Map<object, number>()
): number => {
  if (typeof value !== "object" || value === null) return 0
  const seen = known.get(value)
  if (seen !== undefined) return seen
  if (path.length > Json.maxDepth) return Infinity
  known.set(value, Infinity)
  if (!Array.isArray(value) && !isRecord(value)) issues.push({ path, message: "Expected an object with keys" })
  let below = 0
  for (const [key, child] of Object.entries(value)) {
    if (typeof child === "object") below = Math.max(below, levels(child, [...path, key], issues, known))
  }
  known.set(value, below + 1)
  return below + 1
}

const tooDeep = { path: [], message: `Expected at most ${Json.maxDepth} levels` }

/**
 * Makes the function that encodes the input of an operation. The input is an object with at most `Json.maxDepth` levels.
 * An unknown key and a collection, such as a Map, are issues, because their values would not be sent.
 *
 * @since 0.1.0
 * @category utilities
 */
export const encoder = <S extends Schema.ConstraintEncoder<unknown>>(schema: S) => {
  const encode = SchemaParser.encodeUnknownResult(schema, closed)
  return (input: unknown): Result.Result<S["Encoded"], ReadonlyArray<Issue>> => {
    const issues: Array<Issue> = []
    if (levels(input, [], issues) > Json.maxDepth) return Result.fail([tooDeep])
    return issues.length > 0 ? Result.fail(issues) : Result.mapError(encode(input), (issue) => fromSchemaIssue(issue))
  }
}
