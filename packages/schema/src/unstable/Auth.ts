/**
 * Authentication params, scopes and tokens (spec.md, "Authentication").
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { ByteSize, NonEmptyString, NonNegativeNumber, RegularExpression, secret } from "./Field.ts"
import { renamed } from "./Struct.ts"
import { IsoDateTime } from "./Timestamp.ts"

/**
 * The known scopes. The operations of the specification need `assemblies:read` and `dam:write`. The other scopes are
 * beyond the specification.
 *
 * Clause: spec.md, "Authentication".
 *
 * @since 0.1.0
 * @category schemas
 */
export const KnownScope = Schema.Literals([
  "assemblies:read",
  "assemblies:write",
  "assembly_notifications:write",
  "auth_keys:read",
  "auth_keys:write",
  "billing:read",
  "dam:read",
  "dam:write",
  "queues:read",
  "read",
  "smart_cdn:sign",
  "storage_grants:write",
  "template_credentials:read",
  "template_credentials:write",
  "templates:read",
  "templates:write",
  "write"
])

/**
 * A permission of an Auth Key or a token. New scopes may appear, so any text of visible ASCII characters is valid.
 *
 * Clause: spec.md, "Authentication".
 *
 * @example `"dam:write"`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Scope = Schema.make<Schema.Codec<typeof KnownScope.Type | (string & {})>>(
  Schema.String.check(Schema.isPattern(/^[!-~]+$/u, { expected: "a scope without white space" })).ast
)
/**
 * @since 0.1.0
 * @category models
 */
export type Scope = typeof Scope.Type

/**
 * The algorithm of signatures that are made with an Auth Key.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SignatureAlgorithm = Schema.Literals(["sha1", "sha256", "sha384"])

/**
 * A value that makes a signature unique: a string or an integer.
 *
 * Clause: spec.md, "Authentication".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Nonce = Schema.Union([Schema.String, Schema.Int])

/**
 * The `auth` object of params. `expires` is an ISO 8601 date-time; this schema does not check that it is in the future.
 * `nonce` is unique per request. `referer` is a regular expression that the HTTP referer must match, if the request has
 * one. `max_size` is the maximum size of an upload in bytes (spec.md, "Retrieve list of Assemblies" and "Limits").
 *
 * @since 0.1.0
 * @category schemas
 */
export const AuthParams = Schema.Struct({
  key: NonEmptyString,
  expires: Schema.optionalKey(IsoDateTime),
  nonce: Schema.optionalKey(Nonce),
  referer: Schema.optionalKey(RegularExpression),
  max_size: Schema.optionalKey(ByteSize)
})

/**
 * {@link AuthParams} of a signed request. `expires` is required (spec.md, "Authentication").
 *
 * @since 0.1.0
 * @category schemas
 */
export const SignedAuthParams = Schema.Struct({ ...AuthParams.fields, expires: IsoDateTime })
/**
 * @since 0.1.0
 * @category models
 */
export type SignedAuthParams = typeof SignedAuthParams.Type

const Scopes = Schema.String.check(
  Schema.isPattern(/^[!-~]+(?: [!-~]+)*$/u, { expected: "scopes separated by single spaces" })
).pipe(
  Schema.decodeTo(Schema.NonEmptyArray(Scope), {
    // A text that is split has at least one part.
    decode: SchemaGetter.transform((text) => text.split(" ") as [string, ...Array<string>]),
    encode: SchemaGetter.transform((scopes) => scopes.join(" "))
  })
)

/**
 * The form fields of a token request. The Auth Key must have the requested scopes (spec.md, "Authentication"). Without a
 * scope, which is beyond the specification, the token gets all scopes of the Auth Key.
 *
 * @example `Auth.TokenRequest.make({ scope: ["assemblies:read", "dam:write"] })`
 *
 * @since 0.1.0
 * @category schemas
 */
export const TokenRequest = renamed({
  grantType: Schema.tag("client_credentials"),
  aud: Schema.tag("api2"),
  scope: Schema.optionalKey(Scopes)
})
/**
 * @since 0.1.0
 * @category models
 */
export type TokenRequest = typeof TokenRequest.Type

const TokenText = Schema.String.check(
  Schema.isPattern(/^[!-~]+$/u, { expected: "at least 1 character, visible ASCII only" })
)

/**
 * A bearer token, redacted. The token is sent in a header, so it contains only visible ASCII characters.
 *
 * Clause: spec.md, "Authentication".
 *
 * @since 0.1.0
 * @category schemas
 */
export const AccessToken = secret(TokenText, "access_token")
/**
 * @since 0.1.0
 * @category models
 */
export type AccessToken = typeof AccessToken.Type

/**
 * The response to a token request. `expires_in` is in seconds. `token_type` is Bearer in any letter case. The
 * specification promises only `access_token`; the other fields are beyond the specification.
 *
 * Clause: spec.md, "Authentication".
 *
 * @since 0.1.0
 * @category schemas
 */
export const TokenResponse = Schema.Struct({
  access_token: AccessToken,
  token_type: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[Bb][Ee][Aa][Rr][Ee][Rr]$/u, { expected: "Bearer" }))
  ),
  expires_in: Schema.optionalKey(NonNegativeNumber),
  scope: Schema.optionalKey(Schema.String)
})
