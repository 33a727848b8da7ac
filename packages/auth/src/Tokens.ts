/**
 * Bearer tokens from an Auth Key and its secret. A token is used for many requests, and is replaced shortly before its
 * expiry (spec.md, "Authentication").
 */
import * as Auth from "@assembly-effect/schema/Auth"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { SecureUrl } from "@assembly-effect/schema/SecureUrl"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { Budget } from "./unstable/Budget.ts"
import type * as AuthError from "./AuthError.ts"
import * as Authenticator from "./Authenticator.ts"
import * as Credentials from "./Credentials.ts"
import * as TokenEndpoint from "./internal/tokenEndpoint.ts"
import * as Sender from "./unstable/Sender.ts"
import * as TokenStore from "./TokenStore.ts"

/**
 * What a token is needed for: the base URL and the scope of an operation. A scope with white space is a defect.
 *
 * @since 0.1.0
 * @category models
 */
export interface Request {
  readonly baseUrl: SecureUrl
  readonly scope?: Auth.Scope | undefined
}

/**
 * Provides tokens, and remembers which tokens the service has refused.
 *
 * - `get`: the current token. Concurrent calls that need the same token share one request.
 * - `refused`: reports that the service did not accept a token, so that `get` does not return the token again.
 *
 * @since 0.1.0
 * @category services
 */
export class Tokens extends Context.Service<
  Tokens,
  {
    readonly get: (request: Request) => Effect.Effect<TokenStore.Token, AuthError.AuthError>
    readonly refused: (token: Redacted.Redacted) => Effect.Effect<void>
  }
>()("@assembly-effect/auth/Tokens") {}

/**
 * The options for tokens. A value that breaks its rule fails with `InvalidRequest` when the Layer is built.
 *
 * - `scopes`: one token with all these scopes is used for every operation. By default each scope has its own token.
 * - `renewBefore`: how long before its expiry a token is replaced, 1 minute by default, but at most half of its
 *   lifetime.
 * - `requestTimeout`: the time limit of one token request with its response, 30 seconds by default.
 * - `maxWait`: the maximum pause after a renewal that failed, 1 minute by default. If the response requests a longer
 *   pause, the pause is `maxWait`. The pause is at least 5 seconds. During the pause the current token is used as long
 *   as it is valid.
 * - `audience`: the audience of the tokens; `api2` by default, the only audience in the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Settings = Schema.Struct({
  scopes: Schema.optional(Schema.Array(Auth.Scope)),
  renewBefore: Schema.optional(Rules.duration),
  requestTimeout: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration),
  audience: Schema.optional(Rules.notBlank)
})
/**
 * The options as the program writes them.
 *
 * @since 0.1.0
 * @category models
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("Tokens.layer", Settings)

/** A token, and how long `get` returns it without another token request. */
interface Lease {
  readonly token: TokenStore.Token
  readonly duration: Duration.Duration
}

/**
 * The tokens of one grant: the latest token that `get` returned, and the last refused tokens, which a read-only store
 * may return again and again.
 */
interface Memory {
  readonly latest: TokenStore.Token | undefined
  readonly refused: ReadonlyArray<Redacted.Redacted>
}

const maxRefused = 8

/** The store of a program that provides none. */
const none: TokenStore.TokenStore["Service"] = {
  load: () => Effect.succeedNone,
  save: () => Effect.void,
  forget: () => Effect.void
}

/** The minimum pause after a failed renewal while the token is still valid. */
const renewalPause = Duration.seconds(5)

const isLater = (time: DateTime.Utc | undefined, now: number): boolean =>
  time === undefined || time.epochMilliseconds > now

const toToken = (
  { lifetime, value }: TokenEndpoint.Answer,
  asked: number,
  renewBefore: Duration.Duration
): TokenStore.Token => {
  const token = { value, expiresAt: undefined, renewAt: undefined }
  if (lifetime === undefined) return token
  // The service starts the lifetime after the time of the request (`asked`), so the token is not used after its expiry
  // at the service.
  const expires = Duration.sum(Duration.millis(asked), lifetime)
  const early = Duration.min(renewBefore, Duration.divideUnsafe(lifetime, 2))
  const expiresAt = DateTime.make(Duration.toMillis(expires))
  const renewAt = DateTime.make(Duration.toMillis(Duration.subtract(expires, early)))
  // An expiry after the largest possible date counts as no expiry.
  return { ...token, expiresAt: Option.getOrUndefined(expiresAt), renewAt: Option.getOrUndefined(renewAt) }
}

/** The time from `now` to a moment, at least zero. The time is infinite if `moment` is undefined. */
const timeUntil = (moment: DateTime.Utc | undefined, now: number): Duration.Duration =>
  moment === undefined ? Duration.infinity : Duration.millis(Math.max(0, moment.epochMilliseconds - now))

/** A token that is used for at most this duration, and not after its expiry. */
const leaseOf = (token: TokenStore.Token, now: number, most: Duration.Duration): Lease => ({
  token,
  duration: Duration.min(most, timeUntil(token.expiresAt, now))
})

const toLease = (token: TokenStore.Token, now: number): Lease => leaseOf(token, now, timeUntil(token.renewAt, now))

const hasValue =
  (value: Redacted.Redacted) =>
  (token: TokenStore.Token): boolean =>
    Equal.equals(token.value, value)

/**
 * Makes the `Tokens` service from the `Credentials`, the `HttpClient` and the `TokenStore` in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const {
    audience = "api2",
    maxWait = Duration.minutes(1),
    renewBefore = Duration.minutes(1),
    requestTimeout = Duration.seconds(30),
    scopes
  } = yield* decode(options)
  const credentials = yield* Credentials.Credentials
  const store = Option.getOrElse(yield* Effect.serviceOption(TokenStore.TokenStore), () => none)
  const environment: TokenEndpoint.Environment = {
    send: Sender.of(yield* HttpClient.HttpClient),
    credentials,
    requestTimeout,
    budget: yield* Budget
  }
  const allScopes = scopes === undefined ? undefined : [...new Set(scopes)].toSorted()
  const memories = yield* Ref.make(HashMap.empty<TokenStore.Grant, Memory>())

  const grantOf = ({ baseUrl, scope }: Request): TokenStore.Grant => ({
    authKey: credentials.key,
    audience,
    baseUrl,
    scopes: allScopes ?? (scope === undefined ? [] : [scope])
  })

  const recall = (grant: TokenStore.Grant) =>
    Effect.map(Ref.get(memories), (all) =>
      Option.getOrElse(HashMap.get(all, grant), (): Memory => ({ latest: undefined, refused: [] }))
    )

  const remember = (grant: TokenStore.Grant, memory: Memory) => Ref.update(memories, HashMap.set(grant, memory))

  const giveOut = (grant: TokenStore.Grant, latest: TokenStore.Token) =>
    Effect.flatMap(recall(grant), ({ refused }) => remember(grant, { latest, refused }))

  const mint = Effect.fnUntraced(function* (grant: TokenStore.Grant) {
    const asked = yield* Clock.currentTimeMillis
    const token = toToken(yield* TokenEndpoint.request(grant, environment), asked, renewBefore)
    yield* giveOut(grant, token)
    yield* store.save(grant, token)
    return token
  })

  /**
   * The existing token that is still valid and was not refused: the stored token, which may come from another process,
   * else the latest token of this process.
   */
  const existing = Effect.fnUntraced(function* (grant: TokenStore.Grant) {
    const stored = Option.getOrUndefined(yield* store.load(grant))
    const { latest, refused } = yield* recall(grant)
    // The time is read after the access to the store, because the access may take some time.
    const now = yield* Clock.currentTimeMillis
    const current = [stored, latest].find(
      (token) =>
        token !== undefined && isLater(token.expiresAt, now) && !refused.some((value) => hasValue(value)(token))
    )
    return { current, now }
  })

  /**
   * Keeps the current token until the next attempt. Fails if there is no current token, if the current token has
   * expired, or if the error is neither `TokenUnavailable` nor `TokenRateLimited`.
   */
  const fallBack = Effect.fnUntraced(function* (
    grant: TokenStore.Grant,
    current: TokenStore.Token | undefined,
    error: AuthError.AuthError
  ) {
    const now = yield* Clock.currentTimeMillis
    const isPassing = error._tag === "TokenUnavailable" || error._tag === "TokenRateLimited"
    if (current === undefined || !isPassing || !isLater(current.expiresAt, now)) return yield* Effect.fail(error)
    yield* giveOut(grant, current)
    return leaseOf(current, now, Duration.max(Duration.min(error.retryAfter ?? Duration.zero, maxWait), renewalPause))
  })

  const lookup = Effect.fnUntraced(function* (grant: TokenStore.Grant): Effect.fn.Return<Lease, AuthError.AuthError> {
    const { current, now } = yield* existing(grant)
    if (current !== undefined && isLater(current.renewAt, now)) {
      yield* giveOut(grant, current)
      return toLease(current, now)
    }
    return yield* mint(grant).pipe(
      Effect.flatMap((token) => Effect.map(Clock.currentTimeMillis, (then) => toLease(token, then))),
      Effect.catch((error) => fallBack(grant, current, error)),
      Effect.withSpan("Tokens.request", {
        kind: "client",
        attributes: { "http.request.method": "POST", "url.template": "/token" }
      })
    )
  })

  const leases = yield* Cache.makeWith(lookup, {
    capacity: 1024,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? exit.value.duration : Duration.zero)
  })

  return Tokens.of({
    get: (request) => Effect.map(Cache.get(leases, grantOf(request)), ({ token }) => token),
    refused: Effect.fnUntraced(function* (value) {
      for (const [grant, { latest, refused }] of yield* Ref.get(memories)) {
        if (latest === undefined || !hasValue(value)(latest)) continue
        yield* remember(grant, { latest: undefined, refused: [value, ...refused].slice(0, maxRefused) })
        yield* Cache.invalidateWhen(leases, grant, ({ token }) => hasValue(value)(token))
        const stored = yield* store.load(grant)
        if (Option.exists(stored, hasValue(value))) yield* store.forget(grant)
      }
    })
  })
})

/**
 * Requests tokens with `POST /token`.
 *
 * @example
 * Tokens.layerAuthenticator.pipe(
 *   Layer.provide(Tokens.layer({ scopes: ["assemblies:read", "dam:write"] })),
 *   Layer.provide([CredentialsConfig.layer, FetchHttpClient.layer])
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Options
): Layer.Layer<Tokens, InvalidRequest, Credentials.Credentials | HttpClient.HttpClient> =>
  Layer.effect(Tokens, make(options))

/**
 * The error codes with which the service refuses a token, although it may accept another token. Beyond the
 * specification.
 */
const tokenCodes: ReadonlySet<string> = new Set(["BEARER_TOKEN_EXPIRED", "BEARER_TOKEN_INVALID"])

const makeAuthenticator = () =>
  Layer.fresh(
    Layer.effect(
      Authenticator.Authenticator,
      Effect.map(Tokens, (tokens) =>
        Authenticator.Authenticator.of({
          authenticate: ({ baseUrl, params, scope }) =>
            Effect.map(tokens.get({ baseUrl, scope }), ({ value }) => ({
              _tag: "Bearer",
              params: JSON.stringify(params),
              token: value
            })),
          refused: (proof, { code, status }) =>
            proof._tag === "Bearer" && (status === 401 || tokenCodes.has(code ?? ""))
              ? Effect.as(tokens.refused(proof.token), "retry")
              : Effect.succeed("final")
        })
      )
    )
  )

/**
 * Authenticates with a bearer token from {@link Tokens}. If the service refuses the token (401, or an error code for tokens),
 * the token is discarded, and the request is repeated once with another token.
 *
 * @example
 * Tokens.layerAuthenticator.pipe(
 *   Layer.provide(Tokens.layer()),
 *   Layer.provide([CredentialsConfig.layer, FetchHttpClient.layer])
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAuthenticator: Layer.Layer<Authenticator.Authenticator, never, Tokens> =
  // The build marks this call as pure, so that a bundler removes the code for tokens from programs that only sign.
  makeAuthenticator()
