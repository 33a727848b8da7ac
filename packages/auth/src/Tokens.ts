/**
 * Bearer tokens from an Auth Key and its secret. A token is used for many requests, and is replaced shortly before its
 * expiry (spec.md, "Authentication").
 *
 * Of the responses to `POST /token`, the specification names only `access_token`; the errors and the other fields are
 * beyond the specification.
 */
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import * as UrlParams from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AuthError from "./AuthError.ts"
import * as Authenticator from "./Authenticator.ts"
import * as Credentials from "./Credentials.ts"
import * as Redaction from "./Redaction.ts"
import * as TokenStore from "./TokenStore.ts"
import * as Budget from "./unstable/Budget.ts"
import * as Outcome from "./unstable/Outcome.ts"
import * as Sender from "./unstable/Sender.ts"

/**
 * What a token is needed for: the base URL and the scope of an operation. A scope with white space is a defect.
 */
type Request = {
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

const Settings = Schema.Struct({
  scopes: Schema.optional(Schema.Array(Auth.Scope)),
  renewBefore: Schema.optional(Rules.duration),
  requestTimeout: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration),
  audience: Schema.optional(Rules.notBlank)
})

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
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("Tokens.layer", Settings)

type TokenResponse = typeof Auth.TokenResponse.Type

/** The maximum size of a response in bytes. A response with a token is much smaller. */
const maxBytes = 64 * 1024

const encodeForm = Schema.encodeSync(Auth.TokenRequest)
const decodeToken = Schema.decodeUnknownOption(Auth.TokenResponse)
const decodeError = Schema.decodeUnknownOption(ServiceError.ErrorObject)

const toRequest = ({ audience, authKey, baseUrl, scopes }: TokenStore.Grant, secret: string): Sender.Outgoing => {
  const [first, ...others] = scopes
  // As `Tokens` documents, a scope with white space is a defect.
  const form = encodeForm(Auth.TokenRequest.make(first === undefined ? {} : { scope: [first, ...others] }))
  const { origin, pathname } = new URL(baseUrl)
  return {
    method: "POST",
    origin,
    path: `${pathname.replace(/\/+$/, "")}/token`,
    headers: {
      accept: "application/json",
      authorization: `Basic ${Base64.encode(`${authKey}:${secret}`)}`
    },
    // The program may choose another audience than `api2`.
    body: {
      content: UrlParams.toString(UrlParams.fromInput({ ...form, aud: audience })),
      contentType: "application/x-www-form-urlencoded"
    }
  }
}

/** The code in an error body. A text that does not look like a code is left out, because it may repeat a credential. */
const codeOf = (body: unknown, secret: string): string | undefined => {
  const found = decodeError(body)
  if (Option.isNone(found)) return undefined
  const code = Redaction.code(found.value.error ?? "", [secret])
  return /^[A-Z][A-Z0-9_]{0,79}$/.test(code) ? code : ""
}

/** The error of a response without a token, chosen by its status and its error code. */
const toError = (
  { scopes }: TokenStore.Grant,
  status: number,
  code: string | undefined,
  description = "neither a token nor an error of the service",
  wait: Option.Option<Duration.Duration>
): AuthError.AuthError => {
  const refusal = code ? { code, status } : { status }
  if (status === 429 || ServiceError.rateLimitCodes.has(code ?? "")) {
    return new AuthError.TokenRateLimited({ ...refusal, retryAfter: Option.getOrElse(wait, () => Duration.zero) })
  }
  switch (code) {
    case "GET_ACCOUNT_UNKNOWN_AUTH_KEY":
    case "TOKEN_INVALID_CREDENTIALS":
      return new AuthError.WrongCredentials(refusal)
    case "TOKEN_INVALID_SCOPE":
    case "INSUFFICIENT_AUTH_SCOPE":
      return new AuthError.ScopeNotGranted({ ...refusal, scopes })
    case "TOKEN_INVALID_AUDIENCE":
      return new AuthError.AudienceRefused(refusal)
  }
  if (status === 401) return new AuthError.WrongCredentials(refusal)
  if (status >= 500) {
    const told = { description: `the service responded with status ${status}`, status }
    return new AuthError.TokenUnavailable(Option.isSome(wait) ? { ...told, retryAfter: wait.value } : told)
  }
  return code === undefined
    ? new AuthError.UnexpectedTokenResponse({ status, description })
    : new AuthError.TokenRefused(refusal)
}

const lost = ({ code, permanent, description }: Outcome.Lost) =>
  new AuthError.TokenUnavailable({ description, permanent, ...(code === undefined ? undefined : { code }) })

/** The token in a response, or its error. `now` is the local time in milliseconds since 1970. */
const read = (
  grant: TokenStore.Grant,
  secret: string,
  gathered: Outcome.Gathered,
  now: number
): Effect.Effect<TokenResponse, AuthError.AuthError> => {
  const { end, headers, status } = gathered
  const isOk = Outcome.isSuccess(status)
  if (Outcome.isRedirect(status)) {
    return Effect.fail(new AuthError.UnexpectedTokenResponse({ status, description: "redirects are not followed" }))
  }
  if (isOk && typeof end !== "string") return Effect.fail(lost(end))
  const { description, text } = Outcome.textOf(gathered, maxBytes)
  const body = description === undefined ? Option.getOrUndefined(Outcome.parseJson(text)) : undefined
  const code = codeOf(body, secret)
  const token = decodeToken(body)
  if (isOk && code === undefined && Option.isSome(token)) return Effect.succeed(token.value)
  return Effect.fail(toError(grant, status, code, description, Outcome.wait(headers, body, now)))
}

/** The error of a request that was not admitted. The error has no HTTP status, because nothing was sent. */
const notAdmitted = ({ message, wait }: Budget.NotAdmitted): AuthError.AuthError =>
  Option.match(wait, {
    onNone: () => new AuthError.TokenUnavailable({ description: message }),
    onSome: (retryAfter) => new AuthError.TokenRateLimited({ retryAfter })
  })

/** A token, and how long `get` returns it without another token request, in milliseconds. */
interface Lease {
  readonly token: TokenStore.Token
  readonly millis: number
}

/**
 * The tokens of one grant: the latest token that `get` returned, and the last refused tokens, which a read-only store
 * may return again and again.
 */
interface Memory {
  latest: TokenStore.Token | undefined
  refused: ReadonlyArray<Redacted.Redacted>
}

const maxRefused = 8

/** The minimum pause after a failed renewal while the token is still valid, in milliseconds. */
const renewalPause = 5_000

/** A time after the largest possible date counts as no time. */
const toTime = (millis: number): DateTime.Utc | undefined => Option.getOrUndefined(DateTime.make(millis))

/**
 * The lifetime of a token starts after the time of its request (`asked`), so that the token is not used after its expiry
 * at the service.
 */
const toToken = (
  { access_token: value, expires_in: seconds = Infinity }: TokenResponse,
  asked: number,
  renewBefore: number
): TokenStore.Token => {
  const lifetime = seconds * 1000
  const expires = asked + lifetime
  return { value, expiresAt: toTime(expires), renewAt: toTime(expires - Math.min(renewBefore, lifetime / 2)) }
}

/** The time from `now` to a moment in milliseconds, at least zero. The time is infinite if `moment` is undefined. */
const timeUntil = (moment: DateTime.Utc | undefined, now: number): number =>
  moment === undefined ? Infinity : Math.max(0, moment.epochMilliseconds - now)

const isLater = (time: DateTime.Utc | undefined, now: number): boolean => timeUntil(time, now) > 0

/** A token that is used until its renewal or for at most this time, and not after its expiry. */
const toLease = (token: TokenStore.Token, now: number, most = timeUntil(token.renewAt, now)): Lease => ({
  token,
  millis: Math.min(most, timeUntil(token.expiresAt, now))
})

const hasValue = (token: TokenStore.Token, value: Redacted.Redacted): boolean => Equal.equals(token.value, value)

/**
 * Makes the `Tokens` service from the `Credentials`, the `HttpClient` and the `TokenStore` in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const { audience = "api2", scopes, ...times } = yield* decode(options)
  const maxWait = Duration.toMillis(times.maxWait ?? 60_000)
  const renewBefore = Duration.toMillis(times.renewBefore ?? 60_000)
  const credentials = yield* Credentials.Credentials
  const store = Option.getOrUndefined(yield* Effect.serviceOption(TokenStore.TokenStore))
  const load = (grant: TokenStore.Grant) => store?.load(grant) ?? Effect.succeedNone
  const send = Sender.of(yield* HttpClient.HttpClient)
  const budget = yield* Budget.Budget
  const limits = { maxBytes, millis: Duration.toMillis(times.requestTimeout ?? 30_000) }
  const allScopes = scopes === undefined ? undefined : [...new Set(scopes)].toSorted()
  const memories = MutableHashMap.empty<TokenStore.Grant, Memory>()

  const grantOf = ({ baseUrl, scope }: Request): TokenStore.Grant => ({
    authKey: credentials.key,
    audience,
    baseUrl,
    scopes: allScopes ?? (scope === undefined ? [] : [scope])
  })

  const memoryOf = (grant: TokenStore.Grant): Memory => {
    const memory = Option.getOrElse(MutableHashMap.get(memories, grant), () => ({ latest: undefined, refused: [] }))
    MutableHashMap.set(memories, grant, memory)
    return memory
  }

  /**
   * Requests one token. The credentials are sent only to the checked base URL, and redirects are not followed. The wait
   * for the budget does not count towards the time limit; the operation that needs the token may time out earlier.
   */
  const requestToken = Effect.fnUntraced(function* (
    grant: TokenStore.Grant
  ): Effect.fn.Return<TokenResponse, AuthError.AuthError> {
    const admission = budget?.enter({ url: grant.baseUrl, need: "request", until: Infinity })
    yield* Effect.mapError(admission ?? Effect.void, notAdmitted)
    const plain = Redacted.value(credentials.secret)
    const gathered = yield* Effect.mapError(send(toRequest(grant, plain), limits), (error) =>
      error._tag === "Lost"
        ? lost(error)
        : new AuthError.TokenUnavailable({ description: `no response after ${limits.millis / 1000} s` })
    )
    return yield* Effect.tapError(read(grant, plain, gathered, yield* Clock.currentTimeMillis), (error) =>
      budget && error._tag === "TokenRateLimited" ? budget.pause("request", error.retryAfter) : Effect.void
    )
  })

  const mint = Effect.fnUntraced(
    function* (grant: TokenStore.Grant, memory: Memory) {
      const asked = yield* Clock.currentTimeMillis
      const token = toToken(yield* requestToken(grant), asked, renewBefore)
      memory.latest = token
      if (store !== undefined) yield* store.save(grant, token)
      return toLease(token, yield* Clock.currentTimeMillis)
    },
    Effect.withSpan("Tokens.request", {
      kind: "client",
      attributes: { "http.request.method": "POST", "url.template": "/token" }
    })
  )

  /**
   * The existing token if it is still valid and was not refused: the stored token, which may come from another process,
   * else the latest token of this process. Else a new token. After a temporary failure, the existing token is kept until
   * the next attempt.
   */
  const lookup = Effect.fnUntraced(function* (grant: TokenStore.Grant): Effect.fn.Return<Lease, AuthError.AuthError> {
    const memory = memoryOf(grant)
    const stored = Option.getOrUndefined(yield* load(grant))
    // The time is read after the access to the store, because the access may take some time.
    const now = yield* Clock.currentTimeMillis
    const current = [stored, memory.latest].find(
      (token) =>
        token !== undefined && isLater(token.expiresAt, now) && !memory.refused.some((value) => hasValue(token, value))
    )
    if (current !== undefined && isLater(current.renewAt, now)) {
      memory.latest = current
      return toLease(current, now)
    }
    const minted = yield* Effect.result(mint(grant, memory))
    if (Result.isSuccess(minted)) return minted.success
    const { failure: error } = minted
    const then = yield* Clock.currentTimeMillis
    const isPassing = error._tag === "TokenUnavailable" || error._tag === "TokenRateLimited"
    if (current === undefined || !isPassing || !isLater(current.expiresAt, then)) return yield* Effect.fail(error)
    memory.latest = current
    const pause = error.retryAfter === undefined ? 0 : Duration.toMillis(error.retryAfter)
    return toLease(current, then, Math.max(Math.min(pause, maxWait), renewalPause))
  })

  const leases = yield* Cache.makeWith(lookup, {
    capacity: 1024,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? exit.value.millis : 0)
  })

  return Tokens.of({
    get: (request) => Effect.map(Cache.get(leases, grantOf(request)), ({ token }) => token),
    refused: Effect.fnUntraced(function* (value) {
      for (const [grant, memory] of memories) {
        if (memory.latest === undefined || !hasValue(memory.latest, value)) continue
        memory.latest = undefined
        memory.refused = [value, ...memory.refused].slice(0, maxRefused)
        yield* Cache.invalidateWhen(leases, grant, ({ token }) => hasValue(token, value))
        if (store !== undefined && Option.exists(yield* load(grant), (token) => hasValue(token, value)))
          yield* store.forget(grant)
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
 *   Layer.provide([CredentialsConfig.layer, FetchClient.layer])
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

/**
 * Authenticates with a bearer token from {@link Tokens}. If the service refuses the token (401, or an error code for tokens),
 * the token is discarded, and the request is repeated once with another token.
 *
 * @example
 * Tokens.layerAuthenticator.pipe(
 *   Layer.provide(Tokens.layer()),
 *   Layer.provide([CredentialsConfig.layer, FetchClient.layer])
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAuthenticator: Layer.Layer<Authenticator.Authenticator, never, Tokens> = Layer.fresh(
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
