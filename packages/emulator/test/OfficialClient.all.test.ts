/** Tests authentication with the official client of the service, which is independent of this project. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { Transloadit } from "@transloadit/node"
import * as Effect from "effect/Effect"
import { official, officialWith, refusal } from "./official.ts"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const withToken = (authToken: string) =>
  Effect.map(Emulator.Emulator, ({ baseUrl }) => new Transloadit({ authToken, endpoint: baseUrl, maxRetries: 0 }))

const list = (client: Transloadit) => Effect.promise(() => client.listAssemblies({ fromdate: "2026-01-01 00:00:00" }))

describe("@transloadit/node", () => {
  it.live("gets a bearer token, and is accepted with it", Emulator.layer(), function* () {
    const client = yield* official
    const { access_token, scope, token_type } = yield* Effect.promise(() =>
      client.mintBearerToken({ aud: "api2", scope: ["assemblies:read"] })
    )
    assert.deepStrictEqual({ scope, token_type }, { scope: "assemblies:read", token_type: "Bearer" })
    const bearer = yield* withToken(access_token)
    assert.deepStrictEqual(yield* list(bearer), { items: [], count: 0 })
    assert.strictEqual(
      yield* refusal(() => bearer.createAssembly({ params: { steps: {} } })),
      "INSUFFICIENT_AUTH_SCOPE"
    )
  })

  it.live(
    "gets no bearer token with a wrong secret, and is refused with a made up one",
    Emulator.layer(),
    function* () {
      const stranger = yield* officialWith({ authSecret: "another" })
      const message = yield* refusal(() => stranger.mintBearerToken({ aud: "api2" }))
      assert.include(message, "TOKEN_INVALID_CREDENTIALS")
      const bearer = yield* withToken("made-up")
      assert.strictEqual(yield* refusal(() => bearer.listAssemblies()), "BEARER_TOKEN_INVALID")
    }
  )
})
