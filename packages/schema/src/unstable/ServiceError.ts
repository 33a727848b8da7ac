/**
 * The error bodies of the service (spec.md, "Errors"). The errors with which operations fail are in the module
 * `ApiError` of `@assembly-effect/api`.
 */
import * as Schema from "effect/Schema"
import { extensible } from "./Struct.ts"
import { NonEmptyString } from "./Field.ts"

const HttpCode = Schema.Union([
  Schema.Finite,
  Schema.String.check(Schema.isPattern(/^-?\d+(?:\.\d+)?$/u, { expected: "a number in digits" }))
])

/**
 * The general error object. An error object has at least one of `error`, `message` and `reason`; unknown fields are
 * kept. `http_code` is a number, or a number as text. Decide by the code in `error`, because the text of `message` may
 * change.
 *
 * Clause: spec.md, "Errors".
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorObject = extensible({
  error: Schema.optionalKey(NonEmptyString),
  http_code: Schema.optionalKey(HttpCode),
  message: Schema.optionalKey(Schema.String),
  reason: Schema.optionalKey(Schema.Json),
  assembly_id: Schema.optionalKey(Schema.String)
}).check(
  Schema.makeFilter((body) => "error" in body || "message" in body || "reason" in body, {
    expected: "at least one of error, message and reason"
  })
)
/**
 * @since 0.1.0
 * @category models
 */
export type ErrorObject = typeof ErrorObject.Type

/**
 * The error codes of a failed authentication or authorization. Beyond the specification.
 *
 * @since 0.1.0
 * @category utilities
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
 * The error codes of a rate limit. Beyond the specification.
 *
 * @since 0.1.0
 * @category utilities
 */
export const rateLimitCodes: ReadonlySet<string> = new Set([
  "RATE_LIMIT_REACHED",
  "ASSEMBLY_STATUS_FETCHING_RATE_LIMIT_REACHED"
])

/**
 * The HTTP statuses with which a proxy or a gateway responds if it has no valid response of the service.
 *
 * @since 0.1.0
 * @category constants
 */
export const gatewayStatuses: ReadonlySet<unknown> = new Set([407, 502, 503, 504])
