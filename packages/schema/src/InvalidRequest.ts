/**
 * The error of an input or an option that breaks a rule. Every package uses this error.
 */
import * as Expected from "./unstable/Expected.ts"
import * as Schema from "effect/Schema"

/**
 * One rule that an input breaks: `path` leads to the invalid value, and `message` describes the rule.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Issue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  message: Schema.String
})
/**
 * @since 0.1.0
 * @category models
 */
export type Issue = typeof Issue.Type

/**
 * The input or an option breaks a rule, so nothing was sent or started. `operation` is the name of the operation or of
 * the Layer. `host` and `assemblyId` are those of the request that would have been sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest extends Expected.TaggedError<InvalidRequest>()(
  "InvalidRequest",
  {
    operation: Schema.String,
    host: Schema.optionalKey(Schema.String),
    assemblyId: Schema.optionalKey(Schema.String),
    issues: Schema.Array(Issue)
  },
  ({ issues, operation }) => {
    const lines = issues.map(({ message, path }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
    return `${operation}: ${lines.join("; ")}`
  }
) {}
