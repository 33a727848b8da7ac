/**
 * The bodies of the named errors (spec.md, "Errors"). `@assembly-effect/api` recognizes a named error by its code, without
 * these schemas.
 */
import * as Schema from "effect/Schema"
import { extensible } from "./Struct.ts"

/**
 * The codes of the named errors (spec.md, "Errors"), with their HTTP statuses. The status of ASSEMBLY_LIST_ERROR is
 * beyond the specification.
 *
 * @since 0.1.0
 * @category utilities
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
/**
 * @since 0.1.0
 * @category models
 */
export type NamedCode = keyof typeof statusOf

/**
 * The body of one named error. `error` is the code. `http_code` is absent, or is exactly the HTTP status, as a number
 * or as text (spec.md, "Errors"). Unknown fields are kept.
 *
 * This schema describes what the service should send. `@assembly-effect/api` decodes an `ErrorObject` and compares only
 * the code, so it also recognizes a named error with a wrong status.
 *
 * @example `NamedError.named("DAM_MUTATION_CONFLICT")`
 *
 * @since 0.1.0
 * @category utilities
 */
export const named = <const Code extends NamedCode>(code: Code) =>
  extensible({
    error: Schema.Literal(code),
    http_code: Schema.optionalKey(Schema.Literals([statusOf[code], `${statusOf[code]}`])),
    message: Schema.optionalKey(Schema.String),
    reason: Schema.optionalKey(Schema.Json),
    assembly_id: Schema.optionalKey(Schema.String)
  })
