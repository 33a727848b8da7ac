/**
 * What proves who asks (spec.md, "Authentication").
 */
import * as Schema from "effect/Schema"
import { NonEmptyString, NonNegativeInt } from "./Scalar.ts"

/**
 * What an Auth Key or token may do. The service knows more than the specification names, so any text is a scope.
 */
export const Scope = Schema.StringForLiteralAutocomplete.pipe(Schema.check(Schema.isNonEmpty()))

/**
 * The `auth` object of params. `expires` is ISO 8601 and in the future, `max_size` bytes, `referer` a regular
 * expression that a referer of the request has to match.
 */
export const AuthParams = Schema.Struct({
  key: NonEmptyString,
  expires: Schema.optionalKey(NonEmptyString),
  nonce: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
  referer: Schema.optionalKey(Schema.String),
  max_size: Schema.optionalKey(NonNegativeInt)
})
export type AuthParams = typeof AuthParams.Type
