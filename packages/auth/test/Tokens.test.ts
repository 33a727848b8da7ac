import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as TokenStore from "@assembly-effect/auth/TokenStore"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as Idle from "@assembly-effect/testkit/time/Idle"
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

describe("Tokens.get", () => {
  it.effect("sends POST /token with Basic authentication, grant_type, aud and scope (spec A-9)", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token({ token_type: "Bearer", expires_in: 3600, scope: "dam:write" }))
      assert.strictEqual(yield* get({ baseUrl: server.baseUrl, scope: "dam:write" }), "token-1")
      const [request] = server.received
      assert.strictEqual(request?.method, "POST")
      assert.strictEqual(request?.path, "/token")
      assert.match(request?.headers["content-type"] ?? "", /^application\/x-www-form-urlencoded/)
      // printf '%s' 'test-key:test-secret' | openssl base64
      assert.strictEqual(request?.headers.authorization, "Basic dGVzdC1rZXk6dGVzdC1zZWNyZXQ=")
      assert.deepStrictEqual(Object.fromEntries(request?.form ?? []), {
        grant_type: "client_credentials",
        aud: "api2",
        scope: "dam:write"
      })
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("sends one request for 1,000 concurrent calls", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token({ expires_in: 3600 }))
      const texts = yield* Effect.all(
        Array.from({ length: 1000 }, () => get({ baseUrl: server.baseUrl, scope: "dam:write" })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(texts), new Set(["token-1"]))
      assert.strictEqual(server.received.length, 1)
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("sends one request for 1,000 concurrent calls that fail, and another one for a later call", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(answer(401, { error: "TOKEN_INVALID_CREDENTIALS" }), token())
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      const errors = yield* Effect.all(
        Array.from({ length: 1000 }, () => Effect.flip(get(request))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(errors.map(({ _tag }) => _tag)), new Set(["WrongCredentials"]))
      assert.strictEqual(server.received.length, 1)
      assert.strictEqual(yield* get(request), "token-2")
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("returns the token to a second call if the first call is interrupted, with one request", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      const first = yield* Effect.forkChild(get(request), { startImmediately: true })
      const second = yield* Effect.forkChild(get(request), { startImmediately: true })
      yield* Fiber.interrupt(first)
      assert.strictEqual(yield* Fiber.join(second), "token-1")
      assert.strictEqual(server.received.length, 1)
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("requests one token for each scope and each base URL", () =>
    Effect.gen(function* () {
      const one = yield* TokenServer.make(token())
      const two = yield* TokenServer.make(token())
      yield* get({ baseUrl: one.baseUrl, scope: "dam:write" })
      yield* get({ baseUrl: one.baseUrl, scope: "assemblies:read" })
      yield* get({ baseUrl: one.baseUrl, scope: "dam:write" })
      yield* get({ baseUrl: two.baseUrl, scope: "dam:write" })
      assert.deepStrictEqual(
        one.received.map(({ form }) => form.get("scope")),
        ["dam:write", "assemblies:read"]
      )
      assert.strictEqual(two.received.length, 1)
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("sends one request with all configured scopes, sorted, for calls with any scope", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      yield* get({ baseUrl: server.baseUrl, scope: "dam:write" })
      yield* get({ baseUrl: server.baseUrl, scope: "assemblies:read" })
      yield* get({ baseUrl: server.baseUrl })
      assert.deepStrictEqual(
        server.received.map(({ form }) => form.get("scope")),
        ["assemblies:read dam:write"]
      )
    }).pipe(Effect.provide(tokens({ scopes: ["dam:write", "assemblies:read", "dam:write"] })))
  )

  it.effect("dies with an invalid scope, and sends no request", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      for (const scope of ["", "dam:write read", "dam:write\n"]) {
        const exit = yield* Effect.exit(get({ baseUrl: server.baseUrl, scope }))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }
      assert.isEmpty(server.received)
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("sends no scope if the call has none", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      yield* get({ baseUrl: server.baseUrl })
      assert.isFalse(server.received[0]?.form.has("scope"))
    }).pipe(Effect.provide(tokens()))
  )
})

describe("The lifetime of a token", () => {
  const ask = Effect.fnUntraced(function* (fields: object, ...moments: ReadonlyArray<Duration.Input>) {
    const server = yield* TokenServer.make(token(fields))
    const seen: Array<string> = []
    for (const moment of moments) {
      yield* TestClock.setTime(Duration.toMillis(moment))
      seen.push(yield* get({ baseUrl: server.baseUrl, scope: "dam:write" }))
    }
    return seen
  })

  it.effect("uses a token of an hour until a minute before its expiry", () =>
    Effect.gen(function* () {
      const seen = yield* ask(
        { expires_in: 3600 },
        0,
        "58 minutes",
        Duration.millis(3_539_999),
        "59 minutes",
        "90 minutes"
      )
      assert.deepStrictEqual(seen, ["token-1", "token-1", "token-1", "token-2", "token-2"])
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("uses a token of 20 seconds for 10 seconds", () =>
    Effect.gen(function* () {
      const seen = yield* ask({ expires_in: 20 }, 0, Duration.millis(9_999), "10 seconds")
      assert.deepStrictEqual(seen, ["token-1", "token-1", "token-2"])
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("renews a token of an hour after 50 minutes if renewBefore is 10 minutes", () =>
    Effect.gen(function* () {
      const seen = yield* ask({ expires_in: 3600 }, 0, Duration.millis(2_999_999), "50 minutes")
      assert.deepStrictEqual(seen, ["token-1", "token-1", "token-2"])
    }).pipe(Effect.provide(tokens({ renewBefore: "10 minutes" })))
  )

  it.effect("uses a token without expires_in without limit", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask({}, 0, "3650 days"), ["token-1", "token-1"])
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("requests a token for each call if expires_in is 0", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask({ expires_in: 0 }, 0, 0), ["token-1", "token-2"])
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("uses a token until its expiry while its renewal fails, with a pause between two attempts", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(
        token({ expires_in: 3600 }),
        answer(503, "busy"),
        TokenServer.cut,
        answer(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 20 } }),
        answer(503, "busy")
      )
      const at = (moment: Duration.Input) =>
        TestClock.setTime(Duration.toMillis(moment)).pipe(
          Effect.andThen(get({ baseUrl: server.baseUrl, scope: "dam:write" }))
        )
      const asked = () => server.received.length
      yield* at(0)
      assert.strictEqual(yield* at("59 minutes"), "token-1")
      assert.strictEqual(asked(), 2)
      yield* at(Duration.seconds(3544))
      assert.strictEqual(asked(), 2)
      assert.strictEqual(yield* at(Duration.seconds(3545)), "token-1")
      assert.strictEqual(asked(), 3)
      assert.strictEqual(yield* at(Duration.seconds(3550)), "token-1")
      assert.strictEqual(asked(), 4)
      yield* at(Duration.seconds(3569))
      assert.strictEqual(asked(), 4)
      yield* at(Duration.seconds(3570))
      assert.strictEqual(asked(), 5)
      assert.strictEqual((yield* Effect.flip(at("1 hour")))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("uses a token while its renewal fails, even if the token in the store has expired", () => {
    const store = storeWith("expired", 0)
    return Effect.gen(function* () {
      const server = yield* TokenServer.make(token({ expires_in: 3600 }), answer(503, "busy"))
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      assert.strictEqual(yield* get(request), "token-1")
      yield* TestClock.adjust(Duration.seconds(3570))
      assert.strictEqual(yield* get(request), "token-1")
      assert.strictEqual(server.received.length, 2)
    }).pipe(Effect.provide(tokens(undefined, store)))
  })

  it.effect("counts expires_in from the start of the request, not from its response", () =>
    Effect.gen(function* () {
      const released = Promise.withResolvers<void>()
      const late: TokenServer.Answer = (received, response, index) => {
        void released.promise.then(() => token({ expires_in: 100 })(received, response, index))
      }
      const server = yield* TokenServer.make(late, token())
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      const first = yield* Effect.forkChild(get(request))
      yield* Effect.promise(async () => {
        while (server.received.length < 1) await new Promise((done) => setImmediate(done))
      })
      yield* TestClock.setTime(20_000)
      released.resolve()
      assert.strictEqual(yield* Fiber.join(first), "token-1")
      yield* TestClock.setTime(89_999)
      assert.strictEqual(yield* get(request), "token-1")
      yield* TestClock.setTime(90_000)
      assert.strictEqual(yield* get(request), "token-2")
    }).pipe(Effect.provide(tokens({ renewBefore: "10 seconds" })))
  )

  it.effect("fails with TokenUnavailable if the token expires in the pause between two attempts to renew it", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token({ expires_in: 100 }), answer(503, "busy"))
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      yield* get(request)
      yield* TestClock.setTime(98_000)
      assert.strictEqual(yield* get(request), "token-1")
      yield* TestClock.setTime(100_000)
      assert.strictEqual((yield* Effect.flip(get(request)))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens({ renewBefore: "10 seconds" })))
  )

  it.effect("fails with TokenUnavailable if the token expires during a renewal that fails", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token({ expires_in: 100 }), TokenServer.silence)
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      yield* get(request)
      yield* TestClock.setTime(95_000)
      const renewal = yield* Effect.forkChild(Effect.flip(get(request)))
      yield* Effect.promise(async () => {
        while (server.received.length < 2) await new Promise((done) => setImmediate(done))
      })
      // The token expires after 100 seconds; the request that should renew it ends after 125.
      yield* TestClock.setTime(126_000)
      assert.strictEqual((yield* Fiber.join(renewal))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens({ renewBefore: "10 seconds" })))
  )

  it.effect("renews a token again after at most maxWait, even if retryIn and Retry-After are longer", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(
        token({ expires_in: 86_400 }),
        answer(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 1e300 } }, { "retry-after": "999999999" }),
        token({ expires_in: 86_400 })
      )
      const at = (seconds: number) =>
        Effect.andThen(TestClock.setTime(seconds * 1000), get({ baseUrl: server.baseUrl, scope: "dam:write" }))
      yield* at(0)
      assert.strictEqual(yield* at(50_000), "token-1")
      assert.strictEqual(yield* at(50_029), "token-1")
      assert.strictEqual(yield* at(50_030), "token-3")
      assert.strictEqual(server.received.length, 3)
    }).pipe(Effect.provide(tokens({ renewBefore: "12 hours", maxWait: "30 seconds" })))
  )

  it.effect.each([1e15, 1e300, 1e308])("uses a token without limit if expires_in is %s", (seconds) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask({ expires_in: seconds }, 0, "3650 days"), ["token-1", "token-1"])
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with WrongCredentials before the expiry if the renewal gets TOKEN_INVALID_CREDENTIALS", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(
        token({ expires_in: 3600 }),
        answer(401, { error: "TOKEN_INVALID_CREDENTIALS" })
      )
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      yield* get(request)
      yield* TestClock.setTime(Duration.toMillis("59 minutes"))
      assert.strictEqual((yield* Effect.flip(get(request)))._tag, "WrongCredentials")
    }).pipe(Effect.provide(tokens()))
  )
})

describe("A refused token", () => {
  it.effect("100 concurrent refusals of one token cause one request for another token", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      yield* get(request)
      // All of them used the same token.
      const texts = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.andThen(refuse("token-1"), get(request))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(texts), new Set(["token-2"]))
      assert.strictEqual(server.received.length, 2)
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with TokenUnavailable if a token is refused and the next request fails", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token({ expires_in: 3600 }), answer(503, "busy"))
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      yield* get(request)
      yield* refuse("token-1")
      assert.strictEqual((yield* Effect.flip(get(request)))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with TokenUnavailable if a token of the store is refused and the next request fails", () => {
    const store = storeWith("of-another-process", 3_600_000)
    return Effect.gen(function* () {
      const server = yield* TokenServer.make(answer(503, "busy"))
      const request = { baseUrl: server.baseUrl, scope: "dam:write" }
      assert.strictEqual(yield* get(request), "of-another-process")
      yield* refuse("of-another-process")
      assert.strictEqual((yield* Effect.flip(get(request)))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens(undefined, store)))
  })

  it.effect("keeps the current token if another one is refused", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      yield* get({ baseUrl: server.baseUrl, scope: "dam:write" })
      yield* refuse("token-0")
      assert.strictEqual(yield* get({ baseUrl: server.baseUrl, scope: "dam:write" }), "token-1")
    }).pipe(Effect.provide(tokens()))
  )
})

describe("A response of the token endpoint", () => {
  const code = (error: string) => ({ error, http_code: 400, message: "no test-secret" })

  it.effect.each([
    [400, code("GET_ACCOUNT_UNKNOWN_AUTH_KEY"), "WrongCredentials"],
    [401, code("TOKEN_INVALID_CREDENTIALS"), "WrongCredentials"],
    [401, code("SERVER_401"), "WrongCredentials"],
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
    [200, "", "UnexpectedTokenResponse"],
    [200, "{", "UnexpectedTokenResponse"],
    [200, "[]", "UnexpectedTokenResponse"],
    [200, {}, "UnexpectedTokenResponse"],
    [200, { access_token: "" }, "UnexpectedTokenResponse"],
    [200, { access_token: 7 }, "UnexpectedTokenResponse"],
    [200, { access_token: "a\r\nx-evil: 1" }, "UnexpectedTokenResponse"],
    [200, { access_token: "t", token_type: "mac" }, "UnexpectedTokenResponse"],
    [200, { access_token: "t", expires_in: -1 }, "UnexpectedTokenResponse"],
    [200, { access_token: "t", expires_in: "3600" }, "UnexpectedTokenResponse"],
    [200, new Uint8Array([0x22, 0xff, 0x22]), "UnexpectedTokenResponse"]
  ] as const)("a response with status %s and the body %j fails with %s, after one request", ([status, body, tag]) =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(answer(status, body))
      const error = yield* Effect.flip(get({ baseUrl: server.baseUrl, scope: "dam:write" }))
      assert.strictEqual(error._tag, tag)
      assert.notInclude(error.message, "test-secret")
      assert.strictEqual(server.received.length, 1)
    }).pipe(Effect.provide(tokens()))
  )

  const capitals = "SECRET0123456789"
  it.effect(`400 {"error":"${capitals}"}, which is the Auth Secret, is TokenRefused without it`, () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(answer(400, { error: capitals }))
      const error = yield* Effect.flip(get({ baseUrl: server.baseUrl }))
      assert.strictEqual(error._tag, "TokenRefused")
      assert.notInclude(JSON.stringify(error) + error.message, capitals)
    }).pipe(Effect.provide(tokens(undefined, undefined, capitals)))
  )

  it.effect("accepts a token with status 201 and content type text/plain", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(
        answer(201, { access_token: "t", token_type: "bearer", more: 1 }, { "content-type": "text/plain" })
      )
      assert.strictEqual(yield* get({ baseUrl: server.baseUrl }), "t")
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with TokenRateLimited that has the longer of retryIn and Retry-After, or 0", () =>
    Effect.gen(function* () {
      const error = { error: "RATE_LIMIT_REACHED", info: { retryIn: 7 } }
      const server = yield* TokenServer.make(
        answer(429, error),
        answer(429, "", { "retry-after": "11" }),
        answer(429, error, { "retry-after": "3" }),
        answer(429, "")
      )
      const waits: Array<number> = []
      for (let index = 0; index < 4; index++) {
        const failure = yield* Effect.flip(get({ baseUrl: server.baseUrl }))
        assert(failure._tag === "TokenRateLimited")
        waits.push(Duration.toSeconds(failure.retryAfter))
      }
      assert.deepStrictEqual(waits, [7, 11, 7, 0])
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("TOKEN_INVALID_SCOPE fails with ScopeNotGranted that has the configured scopes, sorted", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(answer(403, { error: "TOKEN_INVALID_SCOPE" }))
      const error = yield* Effect.flip(get({ baseUrl: server.baseUrl }))
      assert(error._tag === "ScopeNotGranted")
      assert.deepStrictEqual(error.scopes, ["assemblies:read", "dam:write"])
    }).pipe(Effect.provide(tokens({ scopes: ["dam:write", "assemblies:read"] })))
  )

  it.effect.each([301, 302, 303, 307, 308])("a %s fails with UnexpectedTokenResponse, and is not followed", (status) =>
    Effect.gen(function* () {
      const target = yield* TokenServer.make(token())
      const server = yield* TokenServer.make(answer(status, "", { location: `${target.baseUrl}/token` }))
      const error = yield* Effect.flip(get({ baseUrl: server.baseUrl }))
      assert.strictEqual(error._tag, "UnexpectedTokenResponse")
      assert.strictEqual(target.received.length, 0)
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with UnexpectedTokenResponse if the body has more than 64 KiB", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(TokenServer.endless)
      const error = yield* Effect.flip(get({ baseUrl: server.baseUrl }))
      assert.strictEqual(error._tag, "UnexpectedTokenResponse")
      assert.include(error.message, "more than 65536 bytes")
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with TokenUnavailable if the connection is cut", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(TokenServer.cut)
      assert.strictEqual((yield* Effect.flip(get({ baseUrl: server.baseUrl })))._tag, "TokenUnavailable")
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with TokenUnavailable if no response comes within requestTimeout", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(TokenServer.silence)
      const asking = yield* Effect.forkChild(Effect.flip(get({ baseUrl: server.baseUrl })), { startImmediately: true })
      yield* Effect.promise(async () => {
        while (server.received.length < 1) await new Promise((done) => setImmediate(done))
      })
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(asking)
      assert.strictEqual(error._tag, "TokenUnavailable")
      assert.include(error.message, "10 s")
    }).pipe(Effect.provide(tokens({ requestTimeout: "10 seconds" })))
  )
})

describe("Tokens.layerAuthenticator", () => {
  const authenticated = (options?: Tokens.Options) =>
    Tokens.layerAuthenticator.pipe(Layer.provideMerge(tokens(options)))

  it.effect("authenticate returns the params unchanged, and a token for the scope (spec A-5)", () =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      const authenticator = yield* Authenticator.Authenticator
      const proof = yield* authenticator.authenticate({
        baseUrl: server.baseUrl,
        params: { region: "all" },
        nonceIn: "auth",
        scope: "assemblies:read"
      })
      assert(proof._tag === "Bearer")
      assert.strictEqual(proof.params, '{"region":"all"}')
      assert.strictEqual(server.received[0]?.form.get("scope"), "assemblies:read")
    }).pipe(Effect.provide(authenticated()))
  )

  it.effect.each([
    [401, "", "retry"],
    [401, "SERVER_401", "retry"],
    [400, "BEARER_TOKEN_EXPIRED", "retry"],
    [400, "BEARER_TOKEN_INVALID", "retry"],
    [400, "INSUFFICIENT_AUTH_SCOPE", "final"],
    [400, "BEARER_TOKEN_AUTH_KEY_MISMATCH", "final"]
  ] as const)("refused with status %s and code %j returns %j", ([status, refusal, verdict]) =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(token())
      const authenticator = yield* Authenticator.Authenticator
      const ask = authenticator.authenticate({
        baseUrl: server.baseUrl,
        params: {},
        nonceIn: "auth",
        scope: undefined
      })
      assert.strictEqual(yield* authenticator.refused(yield* ask, { code: refusal, status }), verdict)
      yield* ask
      assert.strictEqual(server.received.length, verdict === "retry" ? 2 : 1)
    }).pipe(Effect.provide(authenticated()))
  )
})

describe("The status of a failed token request", () => {
  const asking = (...script: ReadonlyArray<TokenServer.Answer>) =>
    Effect.gen(function* () {
      const server = yield* TokenServer.make(...script)
      return yield* Effect.flip(get({ baseUrl: server.baseUrl, scope: "dam:write" }))
    })

  /** The headers of a response and the beginning of a body, then the connection is closed. */
  const broken =
    (status: number, headers: Readonly<Record<string, string>> = {}): TokenServer.Answer =>
    (_, response) => {
      response.writeHead(status, { "content-length": 100, ...headers })
      response.write('{"error":"TOKEN_', () => response.destroy())
    }

  it.effect("fails with the error of the status if the body is incomplete", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* asking(broken(401)), { _tag: "WrongCredentials", status: 401 })
      assert.deepInclude(yield* asking(broken(403)), {
        _tag: "UnexpectedTokenResponse",
        status: 403,
        description: "an incomplete body"
      })
      assert.deepInclude(yield* asking(broken(429, { "retry-after": "30" })), {
        _tag: "TokenRateLimited",
        status: 429,
        retryAfter: Duration.seconds(30)
      })
      assert.deepInclude(yield* asking(broken(503, { "retry-after": "30" })), {
        _tag: "TokenUnavailable",
        description: "the service responded with status 503",
        status: 503,
        retryAfter: Duration.seconds(30)
      })
    }).pipe(Effect.provide(tokens()))
  )

  it.effect("fails with the status 403 if the body does not end within requestTimeout", () =>
    Effect.gen(function* () {
      const answered = Promise.withResolvers<void>()
      const fetch: typeof globalThis.fetch = (url, init) =>
        globalThis.fetch(url, init).finally(() => answered.resolve())
      const hanging: TokenServer.Answer = (_, response) => {
        response.writeHead(403, { "content-length": 100 })
        response.write("{")
      }
      const patient = tokens({ requestTimeout: "4 seconds" }).pipe(
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
      )
      const idle = Idle.make()
      const fiber = yield* Effect.forkChild(idle.within(Effect.provide(asking(hanging), patient)))
      yield* Effect.promise(() => answered.promise)
      assert.deepInclude((yield* Idle.passUntil(idle, fiber)).value, {
        _tag: "UnexpectedTokenResponse",
        status: 403,
        description: "a body that did not end within 5 s"
      })
    })
  )

  it.effect("fails with TokenUnavailable and ECONNREFUSED if the connection is refused", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* Effect.scoped(TokenServer.make(token()))
      const error = yield* Effect.flip(get({ baseUrl, scope: "dam:write" }))
      assert.deepInclude(error, { _tag: "TokenUnavailable", code: "ECONNREFUSED", permanent: false })
      assert.strictEqual(error.message, "No token: the connection was refused")
    }).pipe(Effect.provide(tokens()))
  )
})
