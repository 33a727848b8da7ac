/**
 * The inputs of operations and their validation errors.
 */
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as ApiError from "../ApiError.ts"

/**
 * The schema of the params of an operation without params, and of the form fields of an operation without form fields.
 *
 * @since 0.1.0
 * @category utilities
 */
export const nothing = Schema.Struct({})

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const isKey = (key: unknown): key is string | number => typeof key === "string" || typeof key === "number"

/**
 * The issues of a schema as plain data. The path of each issue begins with `below`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const fromSchemaIssue = (
  issue: SchemaIssue.Issue,
  below: ReadonlyArray<string> = []
): ReadonlyArray<ApiError.Issue> =>
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
export const invalidRequest = (operation: string, issue: SchemaIssue.Issue): ApiError.InvalidRequest =>
  new ApiError.InvalidRequest({ operation, issues: fromSchemaIssue(issue) })
