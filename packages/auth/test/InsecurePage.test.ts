/**
 * A page on plain http, where `crypto` can do no more than random values: what needs more says so when it is built.
 */
import * as KeyValueTokenStore from "@assembly-effect/auth/KeyValueTokenStore"
import { Authenticator, Credentials, Webhook } from "@assembly-effect/auth"
import { assert, describe, it } from "@effect/vitest"
import { WebCrypto } from "effect/crypto"
import { Effect, Layer, Redacted } from "effect"
import { KeyValueStore } from "effect/persistence"

const { crypto } = globalThis

const insecure = new Proxy(crypto, {
  get: (real, name) => (name === "getRandomValues" ? real.getRandomValues.bind(real) : undefined)
})

const credentials = Layer.orDie(Credentials.layer({ key: "test-key", secret: Redacted.make("test-secret") }))

const builds = {
  "signed params": Effect.asVoid(Layer.build(Layer.fresh(Authenticator.layerSigned()))),
  notifications: Effect.asVoid(Layer.build(Layer.fresh(Webhook.layer()))),
  "shared tokens": Effect.asVoid(Layer.build(Layer.fresh(KeyValueTokenStore.layer)))
}

describe("without crypto.subtle", () => {
  for (const [name, build] of Object.entries(builds)) {
    it.effect(`the Layer of ${name} fails with CryptoUnavailable if crypto.subtle is missing`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Effect.scoped(build))
        assert.strictEqual(error._tag, "CryptoUnavailable")
        assert.include(error.message, "serve the page over https or from localhost")
      }).pipe(Effect.provide([credentials, KeyValueStore.layerMemory, WebCrypto.layer(insecure)]))
    )
  }
})
