import { Authenticator, Tokens, TokenStore } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Cause, DateTime, Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import * as TokenServer from "./utils/TokenServer.ts"

const { answer, get, refuse, token, tokens } = TokenServer

/** A store that always has one token, which must be renewed now and expires at this time, in milliseconds since 1970. */
const storeWith = (value: string, expiresAt: number) =>
  Layer.succeed(TokenStore.TokenStore, {
    load: () =>
      Effect.succeedSome({
        value: Redacted.make(value),
        expiresAt: DateTime.makeUnsafe(expiresAt),
        renewAt: DateTime.makeUnsafe(0)
      }),
    save: () => Effect.void,
    forget: () => Effect.void
  })

const busy = answer(503, "busy")
const hour = token({ expires_in: 3600 })

/** A server with these answers, and a call of `get` to it for `dam:write`. */
const asking = Effect.fnUntraced(function* (...script: ReadonlyArray<TokenServer.Answer>) {
  const server = yield* TokenServer.make(...script)
  return { server, ask: get({ baseUrl: server.baseUrl, scope: "dam:write" }) }
})

const atOnce = <A, E>(count: number, call: Effect.Effect<A, E, Tokens.Tokens>) =>
  Effect.forEach(Array(count), () => call, { concurrency: "unbounded" })

/** Waits until the server has received so many requests. */
const arrived = (server: { readonly received: ReadonlyArray<unknown> }, requests: number) =>
  Effect.promise(async () => {
    while (server.received.length < requests) await new Promise((done) => setImmediate(done))
  })

describe("Tokens.get", () => {
  it.effect("sends POST /token with Basic, grant_type, aud and scope (spec A-9)", tokens(), function* () {
    const server = yield* TokenServer.make(token({ token_type: "Bearer", expires_in: 3600, scope: "dam:write" }))
    assert.strictEqual(yield* get({ baseUrl: server.baseUrl, scope: "dam:write" }), "token-1")
    const [request] = server.received
    assert.strictEqual(request?.method, "POST")
    assert.strictEqual(request?.path, "/token")
    assert.match(request?.headers["content-type"] ?? "", /^application\/x-www-form-urlencoded/)
    // printf '%s' 'test-key:test-secret' | openssl base64
    assert.strictEqual(request?.headers.authorization, "Basic dGVzdC1rZXk6dGVzdC1zZWNyZXQ=")
    const body = { grant_type: "client_credentials", aud: "api2", scope: "dam:write" }
    assert.deepStrictEqual(Object.fromEntries(new URLSearchParams(request?.body)), body)
  })

  it.effect("sends one request for 1,000 concurrent calls, also if it fails", tokens(), function* () {
    const { ask, server } = yield* asking(answer(401, { error: "TOKEN_INVALID_CREDENTIALS" }), token())
    const many = <A, E>(call: Effect.Effect<A, E, Tokens.Tokens>) =>
      Effect.map(atOnce(1000, call), (all) => [...new Set(all)])
    const tags = Effect.map(Effect.flip(ask), ({ _tag }) => _tag)
    assert.deepStrictEqual(yield* many(tags), ["WrongCredentials"])
    assert.strictEqual(server.received.length, 1)
    assert.deepStrictEqual(yield* many(ask), ["token-2"])
    assert.strictEqual(server.received.length, 2)
  })

  it.effect("returns the token to a second call if the first is interrupted", tokens(), function* () {
    const { ask, server } = yield* asking(token())
    const first = yield* Effect.forkChild(ask, { startImmediately: true })
    const second = yield* Effect.forkChild(ask, { startImmediately: true })
    yield* Fiber.interrupt(first)
    assert.strictEqual(yield* Fiber.join(second), "token-1")
    assert.strictEqual(server.received.length, 1)
  })

  it.effect("requests one token for each scope and each base URL", tokens(), function* () {
    const one = yield* TokenServer.make(token())
    const two = yield* TokenServer.make(token())
    yield* get({ baseUrl: one.baseUrl, scope: "dam:write" })
    yield* get({ baseUrl: one.baseUrl, scope: "assemblies:read" })
    yield* get({ baseUrl: one.baseUrl, scope: "dam:write" })
    yield* get({ baseUrl: two.baseUrl, scope: "dam:write" })
    assert.deepStrictEqual(TokenServer.scopesIn(one), ["dam:write", "assemblies:read"])
    assert.strictEqual(two.received.length, 1)
  })

  const three = tokens({ scopes: ["dam:write", "assemblies:read", "dam:write"] })
  it.effect("sends all configured scopes, sorted, for calls with any scope", three, function* () {
    const server = yield* TokenServer.make(token())
    yield* get({ baseUrl: server.baseUrl, scope: "dam:write" })
    yield* get({ baseUrl: server.baseUrl, scope: "assemblies:read" })
    yield* get({ baseUrl: server.baseUrl })
    assert.deepStrictEqual(TokenServer.scopesIn(server), ["assemblies:read dam:write"])
  })

  it.effect("dies with an invalid scope, and sends no request", tokens(), function* () {
    const server = yield* TokenServer.make(token())
    for (const scope of ["", "dam:write read", "dam:write\n"]) {
      const exit = yield* Effect.exit(get({ baseUrl: server.baseUrl, scope }))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }
    assert.isEmpty(server.received)
  })

  it.effect("sends no scope if the call has none", tokens(), function* () {
    const server = yield* TokenServer.make(token())
    yield* get({ baseUrl: server.baseUrl })
    assert.deepStrictEqual(TokenServer.scopesIn(server), [null])
  })
})

describe("The lifetime of a token", () => {
  const soon = { renewBefore: "10 seconds" } as const
  const day = token({ expires_in: 86_400 })
  const limited = answer(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 1e300 } }, { "retry-after": "999999999" })

  interface Lifetime {
    readonly options?: Tokens.Options
    readonly store?: Layer.Layer<TokenStore.TokenStore>
    readonly answers: ReadonlyArray<TokenServer.Answer>
    /** The time of a call, its token or the tag of its error, and the number of requests until then. */
    readonly seen: ReadonlyArray<string>
  }
  const lifetimes: Readonly<Record<string, Lifetime>> = {
    "a token of an hour is used until a minute before its expiry": {
      answers: [hour],
      seen: ["0 s: token-1, 1", "3539.999 s: token-1, 1", "3540 s: token-2, 2", "5400 s: token-2, 2"]
    },
    "a token of 20 seconds is used for 10 seconds": {
      answers: [token({ expires_in: 20 })],
      seen: ["0 s: token-1, 1", "9.999 s: token-1, 1", "10 s: token-2, 2"]
    },
    "a token of an hour is renewed after 50 minutes if renewBefore is 10 minutes": {
      options: { renewBefore: "10 minutes" },
      answers: [hour],
      seen: ["0 s: token-1, 1", "2999.999 s: token-1, 1", "3000 s: token-2, 2"]
    },
    ...Object.fromEntries(
      [undefined, 1e15, 1e300, 1e308].map((seconds) => [
        `a token with expires_in ${seconds} is used without limit`,
        {
          answers: [token(seconds === undefined ? {} : { expires_in: seconds })],
          seen: ["0 s: token-1, 1", "315360000 s: token-1, 1"]
        }
      ])
    ),
    "a token with expires_in 0 is used for one call": {
      answers: [token({ expires_in: 0 })],
      seen: ["0 s: token-1, 1", "0 s: token-2, 2"]
    },
    "a token is used until its expiry while its renewal fails, with pauses": {
      answers: [hour, busy, Server.reset, answer(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 20 } }), busy],
      seen: [
        "0 s: token-1, 1",
        "3540 s: token-1, 2",
        "3544 s: token-1, 2",
        "3545 s: token-1, 3",
        "3550 s: token-1, 4",
        "3569 s: token-1, 4",
        "3570 s: token-1, 5",
        "3600 s: TokenUnavailable, 6"
      ]
    },
    "a token is used while its renewal fails, even if the token in the store has expired": {
      store: storeWith("expired", 0),
      answers: [hour, busy],
      seen: ["0 s: token-1, 1", "3570 s: token-1, 2"]
    },
    "a token that expires in the pause between two attempts to renew it is not used": {
      options: soon,
      answers: [token({ expires_in: 100 }), busy],
      seen: ["0 s: token-1, 1", "98 s: token-1, 2", "100 s: TokenUnavailable, 3"]
    },
    "a token is renewed after at most maxWait, even if retryIn and Retry-After are longer": {
      options: { renewBefore: "12 hours", maxWait: "30 seconds" },
      answers: [day, limited, day],
      seen: ["0 s: token-1, 1", "50000 s: token-1, 2", "50029 s: token-1, 2", "50030 s: token-3, 3"]
    },
    "a token is not used before its expiry if its renewal gets TOKEN_INVALID_CREDENTIALS": {
      answers: [hour, answer(401, { error: "TOKEN_INVALID_CREDENTIALS" })],
      seen: ["0 s: token-1, 1", "3540 s: WrongCredentials, 2"]
    }
  }
  it.effect.each(Object.entries(lifetimes))("%s", ([, { answers, options, seen, store }]) =>
    Effect.gen(function* () {
      const { ask, server } = yield* asking(...answers)
      for (const expected of seen) {
        const seconds = parseFloat(expected)
        yield* TestClock.setTime(seconds * 1000)
        const found = yield* Effect.match(ask, { onSuccess: (text) => text, onFailure: ({ _tag }) => _tag })
        assert.strictEqual(`${seconds} s: ${found}, ${server.received.length}`, expected)
      }
    }).pipe(Effect.provide(tokens(options, store)))
  )

  it.effect("counts expires_in from the start of the request, not from its response", tokens(soon), function* () {
    const released = Promise.withResolvers<void>()
    const late: TokenServer.Answer = (received, response, index) => {
      void released.promise.then(() => token({ expires_in: 100 })(received, response, index))
    }
    const { ask, server } = yield* asking(late, token())
    const first = yield* Effect.forkChild(ask)
    yield* arrived(server, 1)
    yield* TestClock.setTime(20_000)
    released.resolve()
    assert.strictEqual(yield* Fiber.join(first), "token-1")
    yield* TestClock.setTime(89_999)
    assert.strictEqual(yield* ask, "token-1")
    yield* TestClock.setTime(90_000)
    assert.strictEqual(yield* ask, "token-2")
  })

  it.effect("fails with TokenUnavailable if the token expires during a renewal that fails", tokens(soon), function* () {
    const { ask, server } = yield* asking(token({ expires_in: 100 }), Server.silence)
    yield* ask
    yield* TestClock.setTime(95_000)
    const renewal = yield* Effect.forkChild(Effect.flip(ask))
    yield* arrived(server, 2)
    // The token expires after 100 seconds; the request that should renew it ends after 125.
    yield* TestClock.setTime(126_000)
    assert.strictEqual((yield* Fiber.join(renewal))._tag, "TokenUnavailable")
  })
})

describe("A refused token", () => {
  it.effect("100 concurrent refusals of one token cause one request for another token", tokens(), function* () {
    const { ask, server } = yield* asking(token())
    yield* ask
    // All of them used the same token.
    const texts = yield* atOnce(100, Effect.andThen(refuse("token-1"), ask))
    assert.deepStrictEqual(new Set(texts), new Set(["token-2"]))
    assert.strictEqual(server.received.length, 2)
  })

  it.effect.each([
    ["token-1", undefined],
    ["of-another-process", storeWith("of-another-process", 3_600_000)]
  ] as const)("fails with TokenUnavailable if %s is refused and the next request fails", ([value, store]) =>
    Effect.gen(function* () {
      const { ask } = yield* asking(...(store === undefined ? [hour] : []), busy)
      assert.strictEqual(yield* ask, value)
      yield* refuse(value)
      assert.strictEqual((yield* Effect.flip(ask))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens(undefined, store)))
  )

  it.effect("keeps the current token if another one is refused", tokens(), function* () {
    const { ask } = yield* asking(token())
    yield* ask
    yield* refuse("token-0")
    assert.strictEqual(yield* ask, "token-1")
  })
})

describe("A response of the token endpoint", () => {
  const code = (error: string) => ({ error, http_code: 400, message: "no test-secret" })

  it.effect.each([
    [400, code("GET_ACCOUNT_UNKNOWN_AUTH_KEY"), "WrongCredentials"],
    [401, code("TOKEN_INVALID_CREDENTIALS"), "WrongCredentials"],
    [401, "<html>", "WrongCredentials"],
    [403, code("TOKEN_INVALID_SCOPE"), "ScopeNotGranted"],
    [403, code("TOKEN_INVALID_AUDIENCE"), "AudienceRefused"],
    [400, code("TOKEN_INVALID_GRANT_TYPE"), "TokenRefused"],
    [400, code("TOKEN_INVALID_REQUEST"), "TokenRefused"],
    [200, code("TOKEN_INVALID_SCOPE"), "ScopeNotGranted"],
    [200, { ...code("TOKEN_INVALID_REQUEST"), access_token: "t" }, "TokenRefused"],
    [429, code("RATE_LIMIT_REACHED"), "TokenRateLimited"],
    [413, code("RATE_LIMIT_REACHED"), "TokenRateLimited"],
    [429, "<html>", "TokenRateLimited"],
    [500, code("SERVER_500"), "TokenUnavailable"],
    [502, "<html>", "TokenUnavailable"],
    [403, "<html>", "UnexpectedTokenResponse"],
    [400, { error: "test-secret" }, "TokenRefused"],
    [200, "{", "UnexpectedTokenResponse"],
    [200, {}, "UnexpectedTokenResponse"],
    [200, { access_token: 7 }, "UnexpectedTokenResponse"],
    [200, { access_token: "a\r\nx-evil: 1" }, "UnexpectedTokenResponse"],
    [200, { access_token: "t", token_type: "mac" }, "UnexpectedTokenResponse"],
    [200, { access_token: "t", expires_in: -1 }, "UnexpectedTokenResponse"],
    [200, { access_token: "t", expires_in: "3600" }, "UnexpectedTokenResponse"],
    [200, new Uint8Array([0x22, 0xff, 0x22]), "UnexpectedTokenResponse"]
  ] as const)("status %s with the body %j is %s, after one request", tokens(), function* ([status, body, tag]) {
    const { ask, server } = yield* asking(answer(status, body))
    const error = yield* Effect.flip(ask)
    assert.strictEqual(error._tag, tag)
    assert.notInclude(error.message, "test-secret")
    assert.strictEqual(server.received.length, 1)
  })

  const capitals = "SECRET0123456789"
  const capital = tokens(undefined, undefined, capitals)
  it.effect("a code that is the Auth Secret is not in the error", capital, function* () {
    const { ask } = yield* asking(answer(400, { error: capitals }))
    const error = yield* Effect.flip(ask)
    assert.strictEqual(error._tag, "TokenRefused")
    assert.notInclude(JSON.stringify(error) + error.message, capitals)
  })

  it.effect("accepts a token with status 201 and content type text/plain", tokens(), function* () {
    const body = { access_token: "t", token_type: "bearer", more: 1 }
    const { ask } = yield* asking(answer(201, body, { "content-type": "text/plain" }))
    assert.strictEqual(yield* ask, "t")
  })

  it.effect("fails with TokenRateLimited that has the longer of retryIn and Retry-After, or 0", tokens(), function* () {
    const error = { error: "RATE_LIMIT_REACHED", info: { retryIn: 7 } }
    for (const [response, seconds] of [
      [answer(429, error), 7],
      [answer(429, "", { "retry-after": "11" }), 11],
      [answer(429, error, { "retry-after": "3" }), 7],
      [answer(429, ""), 0]
    ] as const) {
      const failure = yield* Effect.flip((yield* asking(response)).ask)
      assert.deepInclude(failure, { _tag: "TokenRateLimited", retryAfter: Duration.seconds(seconds) })
    }
  })

  /** The headers of a response and the beginning of a body, then the connection is closed. */
  const broken =
    (status: number, headers: Readonly<Record<string, string>> = {}): TokenServer.Answer =>
    (_, response) => {
      response.writeHead(status, { "content-length": 100, ...headers })
      response.write('{"error":"TOKEN_', () => response.destroy())
    }
  const pause = { "retry-after": "30" }
  const retryAfter = Duration.seconds(30)
  const scopes = ["assemblies:read", "dam:write"]
  const two = tokens({ scopes: scopes.toReversed() })
  const unexpected = (description: string) => ({ _tag: "UnexpectedTokenResponse", description })
  const unavailable = { _tag: "TokenUnavailable", description: "the service responded with status 503", status: 503 }
  it.effect.each<readonly [string, TokenServer.Answer, object]>([
    ["TOKEN_INVALID_SCOPE", answer(403, { error: "TOKEN_INVALID_SCOPE" }), { _tag: "ScopeNotGranted", scopes }],
    ["a body without an end", Server.endless(200), unexpected("a body of more than 65536 bytes")],
    ["a connection that is cut", Server.reset, { _tag: "TokenUnavailable" }],
    ["half of a 401", broken(401), { _tag: "WrongCredentials", status: 401 }],
    ["half of a 403", broken(403), { ...unexpected("an incomplete body"), status: 403 }],
    ["half of a 429", broken(429, pause), { _tag: "TokenRateLimited", status: 429, retryAfter }],
    ["half of a 503", broken(503, pause), { ...unavailable, retryAfter }]
  ])("%s has the error of its status", two, function* ([, response, expected]) {
    const { ask } = yield* asking(response)
    assert.deepInclude<object>(yield* Effect.flip(ask), expected)
  })

  it.effect("a redirect fails with UnexpectedTokenResponse, and is not followed", tokens(), function* () {
    const target = yield* TokenServer.make(token())
    for (const status of [301, 302, 303, 307, 308]) {
      const { ask } = yield* asking(answer(status, "", { location: `${target.baseUrl}/token` }))
      assert.deepInclude(yield* Effect.flip(ask), { _tag: "UnexpectedTokenResponse", status })
    }
    assert.strictEqual(target.received.length, 0)
  })

  it.effect("fails with TokenUnavailable after requestTimeout", tokens({ requestTimeout: "10 seconds" }), function* () {
    const { ask, server } = yield* asking(Server.silence)
    const waiting = yield* Effect.forkChild(Effect.flip(ask), { startImmediately: true })
    yield* arrived(server, 1)
    yield* TestClock.adjust("10 seconds")
    const error = yield* Fiber.join(waiting)
    assert.strictEqual(error._tag, "TokenUnavailable")
    assert.include(error.message, "10 s")
  })
})

describe("Tokens.layerAuthenticator", () => {
  const authenticated = (options?: Tokens.Options) =>
    Tokens.layerAuthenticator.pipe(Layer.provideMerge(tokens(options)))

  it.effect("authenticate returns the params and a token for the scope (spec A-5)", authenticated(), function* () {
    const server = yield* TokenServer.make(token())
    const authenticator = yield* Authenticator.Authenticator
    const asked = { params: { region: "all" }, nonceIn: "auth", scope: "assemblies:read", now: 0 } as const
    const proof = yield* authenticator.authenticate({ baseUrl: server.baseUrl, ...asked })
    assert(proof._tag === "Bearer")
    assert.strictEqual(proof.params, '{"region":"all"}')
    assert.deepStrictEqual(TokenServer.scopesIn(server), ["assemblies:read"])
  })

  it.effect.each([
    [401, "", "retry"],
    [401, "SERVER_401", "retry"],
    [400, "BEARER_TOKEN_EXPIRED", "retry"],
    [400, "BEARER_TOKEN_INVALID", "retry"],
    [400, "INSUFFICIENT_AUTH_SCOPE", "final"],
    [400, "BEARER_TOKEN_AUTH_KEY_MISMATCH", "final"]
  ] as const)("refused with status %s and code %j returns %j", authenticated(), function* ([status, refusal, verdict]) {
    const server = yield* TokenServer.make(token())
    const authenticator = yield* Authenticator.Authenticator
    const asked = { params: {}, nonceIn: "auth", scope: undefined, now: 0 } as const
    const ask = authenticator.authenticate({ baseUrl: server.baseUrl, ...asked })
    assert.strictEqual(yield* authenticator.refused(yield* ask, { code: refusal, status }), verdict)
    yield* ask
    assert.strictEqual(server.received.length, verdict === "retry" ? 2 : 1)
  })
})

describe("The status of a failed token request", () => {
  it.effect("fails with the status 403 if the body does not end within requestTimeout", function* () {
    const answered = Promise.withResolvers<void>()
    const fetch: typeof globalThis.fetch = (url, init) => globalThis.fetch(url, init).finally(() => answered.resolve())
    const hanging: TokenServer.Answer = (_, response) => {
      response.writeHead(403, { "content-length": 100 })
      response.write("{")
    }
    const patient = tokens({ requestTimeout: "4 seconds" }).pipe(
      Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
    )
    const idle = Idle.make()
    const { ask } = yield* asking(hanging)
    const fiber = yield* Effect.forkChild(idle.within(Effect.provide(Effect.flip(ask), patient)))
    yield* Effect.promise(() => answered.promise)
    const { value } = yield* Idle.passUntil(idle, fiber)
    const description = "a body that did not end within 5 s"
    assert.deepInclude(value, { _tag: "UnexpectedTokenResponse", status: 403, description })
  })

  it.effect("fails with TokenUnavailable and ECONNREFUSED if the connection is refused", tokens(), function* () {
    const { baseUrl } = yield* Effect.scoped(TokenServer.make(token()))
    const error = yield* Effect.flip(get({ baseUrl, scope: "dam:write" }))
    assert.deepInclude(error, { _tag: "TokenUnavailable", code: "ECONNREFUSED", permanent: false })
    assert.strictEqual(error.message, "No token: the connection was refused")
  })
})
