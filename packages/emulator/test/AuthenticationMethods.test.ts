/** Tests every authenticated operation with every authentication method, with the client of `@assembly-effect/api`. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { AssetId } from "@assembly-effect/schema/Identifier"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"

/** The common fields of the errors of operations. */
interface AnyError {
  readonly _tag: string
  readonly code?: string
}

type Ask = Effect.Effect<unknown, AnyError, AssemblyClient.AssemblyClient>

/** An unknown asset id. The error "not found" proves that the request was authenticated. */
const nowhere = AssetId.make("abcdefghijklmnopqrstuA")

const unlessMissing = <A, E extends AnyError, R>(ask: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    ask,
    ({ _tag }) => _tag === "DamResourceNotFound",
    () => Effect.void
  )

const operations: ReadonlyArray<readonly [name: string, ask: Ask, scope: string]> = [
  ["Assemblies.statistics", Assemblies.statistics({ region: "all", since: "1970-01-01T00:00:00Z" }), "assemblies:read"],
  ["Assemblies.list", Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }), "assemblies:read"],
  ["Assemblies.create", Assemblies.create({}), "assemblies:write"],
  ["Dam.get", unlessMissing(Dam.get(nowhere)), "dam:read"],
  ["Dam.list", Dam.list({ prefix: "nowhere" }), "dam:read"],
  ["Dam.move", unlessMissing(Dam.move(nowhere, { destinationFolderId: null })), "dam:write"],
  ["Dam.moveMany", unlessMissing(Dam.moveMany({ assetIds: [nowhere], destinationFolderId: null })), "dam:write"],
  ["Dam.moveEntry", unlessMissing(Dam.moveEntry({ source: "nowhere", destination: "else" })), "dam:write"],
  ["Dam.delete", unlessMissing(Dam.delete(nowhere)), "dam:write"],
  ["Dam.deleteMany", unlessMissing(Dam.deleteMany({ assetIds: [nowhere] })), "dam:write"]
]

/** Counts requests for tokens, and operations that were sent with a token. */
interface Counts {
  tokens: number
  bearers: number
}

const counting = (counts: Counts) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (http) =>
      HttpClient.mapRequest(http, (request) => {
        if (request.url.endsWith("/token")) counts.tokens++
        if (request.headers["authorization"]?.startsWith("Bearer") === true) counts.bearers++
        return request
      })
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))

type Method = "signed" | "bearer" | "tokens"

/** The token for `Authenticator.layerBearer`. */
const oneToken = Effect.fnUntraced(function* (scope: string) {
  const { baseUrl } = yield* Emulator.Emulator
  const { value } = yield* Tokens.Tokens.use((tokens) => tokens.get({ baseUrl: SecureUrl.make(baseUrl), scope }))
  return value
})

/** A client of the emulator in the context. By default, the client uses the credentials of the emulator. */
const client = (
  method: Method,
  options: {
    readonly scope: string
    readonly counts?: Counts
    readonly credentials?: Partial<Credentials.Credentials["Service"]>
  }
) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, (emulator) => {
      const credentials = Credentials.layer({ ...emulator.credentials, ...options.credentials })
      const http = counting(options.counts ?? { tokens: 0, bearers: 0 })
      const tokens = Tokens.layer().pipe(Layer.provide([credentials, http]))
      const authenticators = {
        signed: Authenticator.layerSigned().pipe(Layer.provide(credentials)),
        bearer: Layer.unwrap(Effect.map(oneToken(options.scope), Authenticator.layerBearer)).pipe(
          Layer.provide(tokens)
        ),
        tokens: Tokens.layerAuthenticator.pipe(Layer.provide(tokens))
      }
      return AssemblyClient.layer({ baseUrl: emulator.baseUrl }).pipe(Layer.provide([authenticators[method], http]))
    })
  )

const methods: ReadonlyArray<Method> = ["signed", "bearer", "tokens"]

const cases = operations.flatMap(([name, ask, scope]) => methods.map((method) => [name, method, ask, scope] as const))

const code = (error: AnyError) => `${error._tag} ${error.code ?? ""}`

describe("Every operation with every proof", () => {
  it.effect.each(cases)("%s is accepted with %s (spec O-4)", ([, method, ask, scope]) =>
    ask.pipe(Effect.provide(client(method, { scope }).pipe(Layer.provide(Emulator.layer()))))
  )

  it.effect("statistics without a region are refused with a bearer token too (spec A-6)", () =>
    Effect.gen(function* () {
      const { baseUrl, credentials } = yield* Emulator.Emulator
      const tokens = Tokens.layer().pipe(Layer.provide([Credentials.layer(credentials), FetchHttpClient.layer]))
      const token = yield* Effect.provide(oneToken("assemblies:read"), tokens)
      const response = yield* HttpClient.execute(
        HttpClientRequest.get(`${baseUrl}/assembly_stats?params={}`).pipe(HttpClientRequest.bearerToken(token))
      )
      assert.deepInclude(yield* response.json, { error: "ASSEMBLY_STATS_MISSING_REGION" })
    }).pipe(Effect.provide([Emulator.layer(), FetchHttpClient.layer]))
  )

  it.effect.each(cases)("%s is refused with %s of another secret", ([, method, ask, scope]) =>
    Effect.gen(function* () {
      const error: AnyError = yield* Effect.flip(
        ask.pipe(Effect.provide(client(method, { scope, credentials: { secret: Redacted.make("another") } })))
      )
      assert.strictEqual(
        code(error),
        {
          signed: "AuthenticationFailed INVALID_SIGNATURE",
          tokens: "AuthenticationFailed TOKEN_INVALID_CREDENTIALS",
          bearer: "WrongCredentials TOKEN_INVALID_CREDENTIALS"
        }[method]
      )
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.effect.each(cases)("%s is refused with %s of an unknown Auth Key", ([, method, ask, scope]) =>
    Effect.gen(function* () {
      const error: AnyError = yield* Effect.flip(
        ask.pipe(Effect.provide(client(method, { scope, credentials: { key: "nobody" } })))
      )
      const tag = method === "bearer" ? "WrongCredentials" : "AuthenticationFailed"
      assert.strictEqual(code(error), `${tag} GET_ACCOUNT_UNKNOWN_AUTH_KEY`)
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.effect.each(cases)("%s is refused with %s that lacks its scope (spec A-7)", ([, method, ask]) =>
    Effect.gen(function* () {
      // The bearer token is for another scope. The other methods request the right scope, which the Auth Key lacks.
      const error: AnyError = yield* Effect.flip(ask.pipe(Effect.provide(client(method, { scope: "smart_cdn:sign" }))))
      const expected = method === "tokens" ? "TOKEN_INVALID_SCOPE" : "INSUFFICIENT_AUTH_SCOPE"
      assert.strictEqual(code(error), `AuthenticationFailed ${expected}`)
    }).pipe(
      Effect.provide(
        Emulator.layer({
          credentials: { key: "k", secret: Redacted.make("a secret"), scopes: ["smart_cdn:sign"] }
        })
      )
    )
  )
})

describe("A token that the service no longer accepts", () => {
  /** Stops the clock of the client, so that the client does not know that the token has expired. */
  const stopped = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const now = clock.currentTimeMillisUnsafe()
      return yield* Effect.provideService(effect, Clock.Clock, {
        ...clock,
        sleep: (duration) => clock.sleep(duration),
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: Effect.succeed(now)
      })
    })

  const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

  it.effect("is replaced once, and the operation goes on", () =>
    Effect.gen(function* () {
      const counts = { tokens: 0, bearers: 0 }
      const context = yield* Layer.build(client("tokens", { scope: "assemblies:read", counts }))
      yield* stopped(
        Effect.gen(function* () {
          yield* list
          assert.deepStrictEqual(counts, { tokens: 1, bearers: 1 })
          yield* TestClock.adjust("2 hours")
          yield* list
          assert.deepStrictEqual(counts, { tokens: 2, bearers: 3 })
        })
      ).pipe(Effect.provideContext(context))
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.effect("is replaced by one request, however many operations meet the refusal", () =>
    Effect.gen(function* () {
      const counts = { tokens: 0, bearers: 0 }
      const context = yield* Layer.build(client("tokens", { scope: "assemblies:read", counts }))
      yield* stopped(
        Effect.gen(function* () {
          yield* list
          yield* TestClock.adjust("2 hours")
          yield* Effect.all(
            Array.from({ length: 20 }, () => list),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(counts.tokens, 2)
        })
      ).pipe(Effect.provideContext(context))
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.effect("is never replaced in a loop", () =>
    Effect.gen(function* () {
      const counts = { tokens: 0, bearers: 0 }
      const error = yield* Effect.flip(
        list.pipe(Effect.provide(client("tokens", { scope: "assemblies:read", counts })))
      )
      assert.strictEqual(code(error), "AuthenticationFailed BEARER_TOKEN_EXPIRED")
      assert.deepStrictEqual(counts, { tokens: 2, bearers: 2 })
    }).pipe(Effect.provide(Emulator.layer({ tokenLifetime: 0.5 })))
  )

  it.effect("is final where there is no other", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(client("bearer", { scope: "assemblies:read" }))
      yield* TestClock.adjust("1 hour")
      const error: AnyError = yield* Effect.flip(Effect.provideContext(list, context))
      assert.strictEqual(code(error), "AuthenticationFailed BEARER_TOKEN_EXPIRED")
    }).pipe(Effect.provide(Emulator.layer()))
  )
})
