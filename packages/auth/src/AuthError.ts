/**
 * The errors of authentication. Handle these errors by tag.
 *
 * `Authenticator.authenticate` can fail only if it has to request a token. A signature needs no request. No error
 * contains a secret, a token, or any text of the response except its error code. The error codes are beyond the
 * specification, which defines no errors of `/token`.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * The Auth Key or the Auth Secret is empty or blank, or the token for `Authenticator.layerBearer` is not a text of
 * visible ASCII characters. `issues` names the field and the rule, never the value. `Credentials.layer`,
 * `Authenticator.layerBearer` and the Layers that use one of them fail with this error; a request never does.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidCredentials extends Expected.TaggedError<InvalidCredentials>()(
  "InvalidCredentials",
  { issues: Schema.Array(Issue) },
  ({ issues }) =>
    `the credentials are invalid: ${issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")}`
) {}

/**
 * This runtime has no `crypto.subtle`. The Layers of this package that sign, verify or encrypt with WebCrypto fail with
 * this error; a request never does. A page has `crypto.subtle` only on https, on `localhost` and on the addresses of
 * loopback. For any other page, the server of the application must make the signatures.
 *
 * @since 0.1.0
 * @category errors
 */
export class CryptoUnavailable extends Expected.TaggedError<CryptoUnavailable>()(
  "CryptoUnavailable",
  {},
  () =>
    "crypto.subtle is unavailable, but signatures and encryption need it; serve the page over https or from localhost"
) {}

/**
 * A response that refuses a token request, a token or a signature: its error code (absent if the response has no
 * valid code) and its HTTP status.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Refusal = Schema.Struct({ code: Schema.optionalKey(Schema.String), status: Schema.Int })
/**
 * @since 0.1.0
 * @category models
 */
export type Refusal = typeof Refusal.Type

const describe =
  (meaning: string) =>
  ({ code, status }: { readonly code?: string | undefined; readonly status: number }): string =>
    `${meaning} (status ${status}${code === undefined ? "" : `, ${code}`})`

/** Makes the base class of an error with the fields of a {@link Refusal}. */
const refusal =
  <Self>() =>
  <const Tag extends string>(tag: Tag, meaning: string) =>
    Expected.TaggedError<Self>()(tag, Refusal.fields, describe(meaning))

/**
 * The service does not know the Auth Key, or the Auth Secret is wrong: the code `GET_ACCOUNT_UNKNOWN_AUTH_KEY` or
 * `TOKEN_INVALID_CREDENTIALS`, or a 401 without a code of `ScopeNotGranted`, `AudienceRefused` or `TokenRateLimited`. A
 * retry does not help.
 *
 * @since 0.1.0
 * @category errors
 */
export class WrongCredentials extends refusal<WrongCredentials>()(
  "WrongCredentials",
  "The Auth Key or the Auth Secret is wrong"
) {}

/**
 * `TOKEN_INVALID_SCOPE` or `INSUFFICIENT_AUTH_SCOPE`: the Auth Key does not have the requested scopes (spec.md,
 * "Authentication").
 *
 * @since 0.1.0
 * @category errors
 */
export class ScopeNotGranted extends Expected.TaggedError<ScopeNotGranted>()(
  "ScopeNotGranted",
  { ...Refusal.fields, scopes: Schema.Array(Schema.String) },
  (error) => describe(`The Auth Key does not grant ${error.scopes.join(" ")}`)(error)
) {}

/**
 * `TOKEN_INVALID_AUDIENCE`: the service issues no tokens for the requested audience.
 *
 * @since 0.1.0
 * @category errors
 */
export class AudienceRefused extends refusal<AudienceRefused>()(
  "AudienceRefused",
  "The service issues no tokens for this audience"
) {}

/**
 * The service refused the token request with an error that has no tag of its own, such as `TOKEN_INVALID_REQUEST`. The
 * HTTP status is below 500. A retry does not help.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenRefused extends refusal<TokenRefused>()("TokenRefused", "The service refused the token request") {}

/**
 * Too many token requests. `retryAfter` is the pause that the service requests, or zero if the service requests none.
 * `status` is absent if the budget of the account had no permit, so nothing was sent. `retryAfter` is then the estimated time
 * until a permit.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenRateLimited extends Expected.TaggedError<TokenRateLimited>()(
  "TokenRateLimited",
  { ...Refusal.fields, status: Schema.optionalKey(Schema.Int), retryAfter: Rules.elapsed },
  ({ code, status }) =>
    status === undefined
      ? "The budget of the account granted no permit in time; no token request was sent"
      : describe("Too many token requests")({ code, status })
) {}

/**
 * The token request got no complete response or a server error (5xx), or the store of the budget failed. A later retry may
 * help, unless `permanent` is true.
 *
 * - `code`: the error code of the lost request, if any, such as `ECONNREFUSED`.
 * - `status`: the HTTP status of the server error; undefined if there was no server error.
 * - `permanent`: whether a retry would fail again, as with an untrusted certificate or an unknown host.
 * - `retryAfter`: the pause that the service requests, if any.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenUnavailable extends Expected.TaggedError<TokenUnavailable>()(
  "TokenUnavailable",
  {
    description: Schema.String,
    code: Schema.optionalKey(Schema.String),
    status: Schema.optionalKey(Schema.Int),
    permanent: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
    retryAfter: Schema.optionalKey(Rules.elapsed)
  },
  ({ description }) => `No token: ${description}`
) {}

/**
 * A response that is neither a token nor an error of the service.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnexpectedTokenResponse extends Expected.TaggedError<UnexpectedTokenResponse>()(
  "UnexpectedTokenResponse",
  { status: Schema.Int, description: Schema.String },
  ({ description, status }) => `No token: status ${status}, ${description}`
) {}

/**
 * All errors of `Authenticator.authenticate`.
 *
 * @since 0.1.0
 * @category models
 */
export type AuthError =
  | WrongCredentials
  | ScopeNotGranted
  | AudienceRefused
  | TokenRefused
  | TokenRateLimited
  | TokenUnavailable
  | UnexpectedTokenResponse
