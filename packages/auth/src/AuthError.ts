/**
 * Why a request could not be vouched for. Handle by tag.
 *
 * Only tokens fail: a signature is made without asking anybody. None of these carries a secret or a token, and none
 * repeats the text of the service's answer. The codes are beyond the specification, which shows no error of `/token`.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * The Auth Key or its secret is empty or blank. `issues` name the field and the rule, never the value. It ends the Layer
 * of the credentials, so no request fails with it.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidCredentials extends Schema.TaggedError<InvalidCredentials>()("InvalidCredentials", {
  issues: Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String }))
}) {
  override get message() {
    return `Credentials.layer: ${this.issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")}`
  }
}

/**
 * This runtime has no `crypto.subtle`, which signatures and encryption need. It ends the Layer that needs it, so no
 * request fails with it. A page has it on https and on localhost only; elsewhere the application signs, on its server.
 *
 * @since 0.1.0
 * @category errors
 */
export class CryptoUnavailable extends Schema.TaggedError<CryptoUnavailable>()("CryptoUnavailable", {}) {
  override get message() {
    return "crypto.subtle is not there, which signatures and encryption need: a page has it on https and on localhost only"
  }
}

/**
 * What the service said to a token request: its code (empty where there was none) and the HTTP status.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Refusal = Schema.Struct({ code: Schema.String, status: Schema.Int })
/**
 * @since 0.1.0
 * @category models
 */
export type Refusal = typeof Refusal.Type

const describe = ({ code, status }: Refusal, meaning: string): string =>
  `${meaning} (status ${status}${code === "" ? "" : `, ${code}`})`

/**
 * The service does not know the Auth Key, or the secret is not its secret: any 401, `GET_ACCOUNT_UNKNOWN_AUTH_KEY`,
 * `TOKEN_INVALID_CREDENTIALS`. Asking again does not help.
 *
 * @since 0.1.0
 * @category errors
 */
export class WrongCredentials extends Schema.TaggedError<WrongCredentials>()("WrongCredentials", Refusal) {
  override get message() {
    return describe(this, "The Auth Key or its secret is wrong")
  }
}

/**
 * 403 `TOKEN_INVALID_SCOPE`: the Auth Key does not grant these scopes (spec.md, "Authentication").
 *
 * @since 0.1.0
 * @category errors
 */
export class ScopeNotGranted extends Schema.TaggedError<ScopeNotGranted>()("ScopeNotGranted", {
  ...Refusal.fields,
  scopes: Schema.Array(Schema.String)
}) {
  override get message() {
    return describe(this, `The Auth Key does not grant ${this.scopes.join(" ")}`)
  }
}

/**
 * 403 `TOKEN_INVALID_AUDIENCE`: the service gives no tokens for the audience that was asked for.
 *
 * @since 0.1.0
 * @category errors
 */
export class AudienceRefused extends Schema.TaggedError<AudienceRefused>()("AudienceRefused", Refusal) {
  override get message() {
    return describe(this, "The service gives no tokens for this audience")
  }
}

/**
 * Any other refusal that a repetition would meet again, such as `TOKEN_INVALID_REQUEST`.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenRefused extends Schema.TaggedError<TokenRefused>()("TokenRefused", Refusal) {
  override get message() {
    return describe(this, "The service gives no token")
  }
}

/**
 * Too many token requests; `retryAfter` is how long the service asks to wait. Status 0 stands for the program's own rate
 * limiter, which sent nothing; `retryAfter` is then the time until it has a permit.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenRateLimited extends Schema.TaggedError<TokenRateLimited>()("TokenRateLimited", {
  ...Refusal.fields,
  retryAfter: Schema.Duration
}) {
  override get message() {
    return this.status === 0
      ? "The rate limiter has no permit for a token request in time; nothing was sent"
      : describe(this, "Too many token requests")
  }
}

/**
 * No answer, or one that says the service is not well (5xx): asking again later may help.
 *
 * - `code`: the cause's own code where it has one, such as `ECONNREFUSED`.
 * - `permanent`: whether asking again meets the same: a certificate that is not trusted, an unknown host.
 * - `retryAfter`: how long the service asks to wait, where it does.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenUnavailable extends Schema.TaggedError<TokenUnavailable>()("TokenUnavailable", {
  problem: Schema.String,
  code: Schema.optionalKey(Schema.String),
  permanent: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  retryAfter: Schema.optionalKey(Schema.Duration)
}) {
  override get message() {
    return `No token: ${this.problem}`
  }
}

/**
 * An answer that is neither a token nor an error of the service.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnexpectedTokenResponse extends Schema.TaggedError<UnexpectedTokenResponse>()("UnexpectedTokenResponse", {
  status: Schema.Int,
  problem: Schema.String
}) {
  override get message() {
    return `No token: status ${this.status}, ${this.problem}`
  }
}

/**
 * Everything that `authenticate` can fail with.
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
