import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as ApiError from "../ApiError.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const isKey = (key: unknown): key is string | number => typeof key === "string" || typeof key === "number"

/** The issues of a schema as plain data, each with its path. */
export const fromSchema = (issue: SchemaIssue.Issue): ReadonlyArray<ApiError.Issue> =>
  format(issue).issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((segment) => (typeof segment === "object" ? segment.key : segment)).filter(isKey)
  }))

/** Encodes input with a schema; every broken rule is in the one error. */
export const encodeInput = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S, operation: string) => {
  const encode = SchemaParser.encodeUnknownEffect(schema, { errors: "all" })
  return (input: unknown): Effect.Effect<S["Encoded"], ApiError.InvalidRequest> =>
    encode(input).pipe(
      Effect.mapError((issue) => new ApiError.InvalidRequest({ operation, issues: fromSchema(issue) }))
    )
}
