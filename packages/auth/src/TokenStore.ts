/**
 * Shares tokens between processes. By default each process has its own tokens. `KeyValueTokenStore` is a store.
 */
import type { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/**
 * A bearer token.
 *
 * - `expiresAt`: the expiry of the token, computed from the time of the token request.
 * - `renewAt`: the time from which `Tokens` requests a new token.
 *
 * Both times are undefined if the service did not report how long the token is valid.
 *
 * @since 0.1.0
 * @category models
 */
export interface Token {
  readonly value: Redacted.Redacted
  readonly expiresAt: DateTime.Utc | undefined
  readonly renewAt: DateTime.Utc | undefined
}

/**
 * What a token is valid for: its Auth Key, its audience, the base URL of the service, and its scopes. `scopes` is
 * empty if no scope is needed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  readonly authKey: string
  readonly audience: string
  readonly baseUrl: SecureUrl
  readonly scopes: ReadonlyArray<string>
}

/**
 * Stores the newest token of each grant. `Tokens` uses this service if its Layer is provided; otherwise, tokens are not
 * shared. The methods cannot fail. If `load` returns `None`, `Tokens` uses the token that it has in memory, or requests a
 * new token.
 *
 * @since 0.1.0
 * @category services
 */
export class TokenStore extends Context.Service<
  TokenStore,
  {
    readonly load: (grant: Grant) => Effect.Effect<Option.Option<Token>>
    readonly save: (grant: Grant, token: Token) => Effect.Effect<void>
    readonly forget: (grant: Grant) => Effect.Effect<void>
  }
>()("@assembly-effect/auth/TokenStore") {}
