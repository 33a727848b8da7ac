/**
 * The inputs of operations and their validation errors.
 */
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { InvalidRequest, type Issue } from "../InvalidRequest.ts"

/**
 * The schema of the params of an operation without params, and of the form fields of an operation without form fields.
 *
 * @since 0.1.0
 * @category utilities
 */
export const nothing = Schema.Struct({})

/**
 * How the input of an operation is encoded: an unknown key is an error, because the key would not be sent.
 *
 * @since 0.1.0
 * @category utilities
 */
export const closed = { errors: "all", onExcessProperty: "error" } as const

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
 * Converts an issue of the input's schema to `InvalidRequest`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const invalidRequest = (operation: string, issue: SchemaIssue.Issue): InvalidRequest =>
  new InvalidRequest({ operation, issues: fromSchemaIssue(issue) })
