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
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

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
    readonly credentials?: Partial<Credentials.Credentials["Service"]>
  }
) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, (emulator) => {
      const credentials = Credentials.layer({ ...emulator.credentials, ...options.credentials })
      const http = FetchHttpClient.layer
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

  it.effect(
    "statistics without a region are refused with a bearer token too (spec A-6)",
    Layer.mergeAll(Emulator.layer(), FetchHttpClient.layer),
    function* () {
      const { baseUrl, credentials } = yield* Emulator.Emulator
      const tokens = Tokens.layer().pipe(Layer.provide([Credentials.layer(credentials), FetchHttpClient.layer]))
      const token = yield* Effect.provide(oneToken("assemblies:read"), tokens)
      const response = yield* HttpClient.execute(
        HttpClientRequest.get(`${baseUrl}/assembly_stats?params={}`).pipe(HttpClientRequest.bearerToken(token))
      )
      assert.deepInclude(yield* response.json, { error: "ASSEMBLY_STATS_MISSING_REGION" })
    }
  )

  it.effect.each(cases)(
    "%s is refused with %s of another secret, and of an unknown Auth Key",
    Emulator.layer(),
    function* ([, method, ask, scope]) {
      const refused = (credentials: Partial<Credentials.Credentials["Service"]>) =>
        Effect.map(Effect.flip(Effect.provide(ask, client(method, { scope, credentials }))), code)
      const tag = method === "bearer" ? "WrongCredentials" : "AuthenticationFailed"
      const wrong = method === "signed" ? "INVALID_SIGNATURE" : "TOKEN_INVALID_CREDENTIALS"
      assert.strictEqual(yield* refused({ secret: Redacted.make("another") }), `${tag} ${wrong}`)
      assert.strictEqual(yield* refused({ key: "nobody" }), `${tag} GET_ACCOUNT_UNKNOWN_AUTH_KEY`)
    }
  )
})
