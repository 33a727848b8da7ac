/**
 * The errors of the service as they come (spec.md, "Errors"). Their Effect errors are in `@assembly-effect/api`.
 */
import * as Schema from "effect/Schema"
import { NonEmptyString } from "./Scalar.ts"

export { TusErrorBody, TusErrorText } from "./internal/tusError.ts"

const HttpCode = Schema.Union([
  Schema.Finite,
  Schema.String.check(Schema.isPattern(/^-?\d+(?:\.\d+)?$/u, { expected: "a number in digits" }))
])

/**
 * The general error object: at least one of `error`, `message` and `reason`; further fields are kept. `http_code` is
 * a number or a number in digits. Handle by `error`, the code: the wording of `message` may vary.
 *
 * Clause: spec.md, "Errors".
 */
export const ErrorObject = Schema.StructWithRest(
  Schema.Struct({
    error: Schema.optionalKey(NonEmptyString),
    http_code: Schema.optionalKey(HttpCode),
    message: Schema.optionalKey(Schema.String),
    reason: Schema.optionalKey(Schema.Json),
    assembly_id: Schema.optionalKey(Schema.String)
  }),
  [Schema.Record(Schema.String, Schema.Json)]
).check(
  Schema.makeFilter((body) => "error" in body || "message" in body || "reason" in body, {
    expected: "at least one of error, message and reason"
  })
)
export type ErrorObject = typeof ErrorObject.Type

/**
 * The named errors and the HTTP status of each; that of ASSEMBLY_LIST_ERROR is beyond the specification.
 */
export const statusOf = {
  ASSEMBLY_STATS_INVALID_TIME: 400,
  ASSEMBLY_STATS_MISSING_REGION: 400,
  ASSEMBLY_STATS_ERROR: 500,
  ASSEMBLY_LIST_ERROR: 400,
  DAM_INVALID_REQUEST: 400,
  DAM_RESOURCE_NOT_FOUND: 404,
  DAM_MUTATION_CONFLICT: 409,
  DAM_MUTATION_FAILED: 500
} as const
export type NamedCode = keyof typeof statusOf

/**
 * The body of one named error: its fixed code, and `http_code` absent or exactly the status, as a number or in digits
 * (spec.md, "Errors"). Further fields are kept.
 *
 * This is how the service is to write it. Whoever reads goes by the code alone: a status that disagrees hides no error.
 *
 * @example `ServiceError.named("DAM_MUTATION_CONFLICT")`
 */
export const named = <const Code extends NamedCode>(code: Code) =>
  Schema.StructWithRest(
    Schema.Struct({
      error: Schema.Literal(code),
      http_code: Schema.optionalKey(Schema.Literals([statusOf[code], `${statusOf[code]}`])),
      message: Schema.optionalKey(Schema.String),
      reason: Schema.optionalKey(Schema.Json),
      assembly_id: Schema.optionalKey(Schema.String)
    }),
    [Schema.Record(Schema.String, Schema.Json)]
  )

/**
 * The named errors of a statistics request.
 *
 * Clause: spec.md, "Errors".
 */
export const StatisticsError = Schema.Union([
  named("ASSEMBLY_STATS_INVALID_TIME"),
  named("ASSEMBLY_STATS_MISSING_REGION"),
  named("ASSEMBLY_STATS_ERROR")
])
export type StatisticsError = typeof StatisticsError.Type

/**
 * The named error of a list request.
 *
 * Clause: spec.md, "Errors".
 */
export const ListError = named("ASSEMBLY_LIST_ERROR")
export type ListError = typeof ListError.Type

/**
 * The named errors of a move request.
 *
 * Clause: spec.md, "Errors".
 */
export const MoveError = Schema.Union([
  named("DAM_INVALID_REQUEST"),
  named("DAM_RESOURCE_NOT_FOUND"),
  named("DAM_MUTATION_CONFLICT"),
  named("DAM_MUTATION_FAILED")
])
export type MoveError = typeof MoveError.Type

/**
 * The codes that refuse who asks, not what is asked. Beyond the specification.
 */
export const authenticationCodes: ReadonlySet<string> = new Set([
  "NO_AUTH_PARAMETER",
  "NO_AUTH_KEY_PARAMETER",
  "NO_AUTH_EXPIRES_PARAMETER",
  "INVALID_AUTH_EXPIRES_PARAMETER",
  "AUTH_EXPIRED",
  "NO_SIGNATURE_FIELD",
  "INVALID_SIGNATURE",
  "SIGNATURE_REUSE_DETECTED",
  "GET_ACCOUNT_UNKNOWN_AUTH_KEY",
  "INSUFFICIENT_AUTH_SCOPE",
  "REFERER_MISMATCH",
  "BEARER_TOKEN_INVALID",
  "BEARER_TOKEN_EXPIRED",
  "BEARER_TOKEN_AUTH_KEY_MISMATCH"
])

/**
 * The codes that ask to wait. Beyond the specification.
 */
export const rateLimitCodes: ReadonlySet<string> = new Set([
  "RATE_LIMIT_REACHED",
  "ASSEMBLY_STATUS_FETCHING_RATE_LIMIT_REACHED"
])
