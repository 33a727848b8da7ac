/** Tests authentication with the official client of the service, which is independent of this project. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { assert, describe, it } from "@effect/vitest"
import { Transloadit } from "@transloadit/node"
import * as Effect from "effect/Effect"
import { official, officialWith, refusal } from "./official.ts"

const withToken = (authToken: string) =>
  Effect.map(Emulator.Emulator, ({ baseUrl }) => new Transloadit({ authToken, endpoint: baseUrl, maxRetries: 0 }))

const list = (client: Transloadit) => Effect.promise(() => client.listAssemblies({ fromdate: "2026-01-01 00:00:00" }))

describe("@transloadit/node", () => {
  it.live("is accepted with the Auth Key and its secret", () =>
    Effect.gen(function* () {
      const client = yield* official
      assert.deepStrictEqual(yield* list(client), { items: [], count: 0 })
      // The official client sends no nonce, so its signatures differ only by the expiry.
      const created = yield* Effect.promise(() => client.createAssembly({ params: { steps: {} } }))
      assert.strictEqual(created.ok, "ASSEMBLY_COMPLETED")
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.live("is refused with a wrong secret and with an unknown Auth Key", () =>
    Effect.gen(function* () {
      const stranger = yield* officialWith({ authSecret: "another" })
      assert.strictEqual(yield* refusal(() => stranger.listAssemblies()), "INVALID_SIGNATURE")
      assert.strictEqual(yield* refusal(() => stranger.createAssembly({ params: { steps: {} } })), "INVALID_SIGNATURE")
      const nobody = yield* officialWith({ authKey: "nobody" })
      assert.strictEqual(yield* refusal(() => nobody.listAssemblies()), "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.live("gets a bearer token, and is accepted with it", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(Emulator.layer()))
  )

  it.live("gets no bearer token with a wrong secret, and is refused with a made up one", () =>
    Effect.gen(function* () {
      const stranger = yield* officialWith({ authSecret: "another" })
      const message = yield* refusal(() => stranger.mintBearerToken({ aud: "api2" }))
      assert.include(message, "TOKEN_INVALID_CREDENTIALS")
      const bearer = yield* withToken("made-up")
      assert.strictEqual(yield* refusal(() => bearer.listAssemblies()), "BEARER_TOKEN_INVALID")
    }).pipe(Effect.provide(Emulator.layer()))
  )
})
