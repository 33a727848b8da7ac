import * as AssemblyClientConfig from "@assembly-effect/api/AssemblyClientConfig"
import { Assemblies, RetryPolicy } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { ConfigProvider, DateTime, Effect, Layer, Redacted } from "effect"
import * as Service from "./utils/FakeService.ts"

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
const page = Service.json(200, { items: [], count: 0 })
const complete = {
  ASSEMBLY_BASE_URL: "https://api2.example.com",
  ASSEMBLY_AUTH_KEY: "the-key",
  ASSEMBLY_AUTH_SECRET: "the-secret-of-the-key"
}

const withEnv = (env: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

describe("AssemblyClientConfig.layer", () => {
  it.effect("signs with the credentials of the configuration, and provides them to the program", function* () {
    const service = Service.make(page)
    const key = yield* Effect.andThen(
      list,
      Credentials.Credentials.use(({ key: own }) => Effect.succeed(own))
    ).pipe(Effect.provide(AssemblyClientConfig.layer().pipe(Layer.provide(service.layer))), withEnv(complete))
    assert.strictEqual(key, "the-key")
    const [url] = service.requests
    assert.strictEqual(url?.host, "api2.example.com")
    assert.match(url?.searchParams.get("signature") ?? "", /^sha384:[0-9a-f]{96}$/)
  })

  it.effect.each<readonly [Record<string, string>, string]>([
    [{ ...complete, ASSEMBLY_BASE_URL: "" }, "ASSEMBLY_BASE_URL is not set"],
    [
      { ASSEMBLY_BASE_URL: complete.ASSEMBLY_BASE_URL },
      "ASSEMBLY_AUTH_KEY is not set; ASSEMBLY_AUTH_SECRET is not set"
    ],
    [
      { ASSEMBLY_AUTH_SECRET: " " },
      "ASSEMBLY_BASE_URL is not set; ASSEMBLY_AUTH_KEY is not set; ASSEMBLY_AUTH_SECRET: Expected a non-blank string"
    ]
  ])("%j fails with one ConfigError: %s", function* ([env, message]) {
    const layer = AssemblyClientConfig.layer().pipe(Layer.provide(Service.make(page).layer))
    const error = yield* Effect.flip(Layer.build(layer)).pipe(withEnv(env))
    assert.deepStrictEqual([error._tag, error.message], ["ConfigError", message])
  })

  it.effect("refuses an invalid option of the client, and sends no signature with another authenticator", function* () {
    const service = Service.make(page)
    const refused = AssemblyClientConfig.layer({ deadline: 0 }).pipe(Layer.provide(service.layer))
    const error = yield* Effect.flip(Layer.build(refused)).pipe(withEnv(complete))
    const expected = "AssemblyClient.layer: deadline: Expected a finite duration above zero, at most 100 years"
    assert.strictEqual(error.message, expected)
    const bearer = AssemblyClientConfig.layer({
      authenticator: Authenticator.layerBearer(Redacted.make("a-token-of-somebody-else"))
    }).pipe(Layer.provide([service.layer, RetryPolicy.layerNone]))
    yield* list.pipe(Effect.provide(bearer), withEnv(complete))
    assert.isFalse(service.requests[0]?.searchParams.has("signature"))
  })
})
