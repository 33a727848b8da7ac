/** Texts that nobody else has, on a page whose `crypto` can do no more than random values. */
import * as Unique from "@assembly-effect/auth/unstable/Unique"
import { assert, effect } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { WebCrypto } from "effect/crypto"

const insecure = new Proxy(globalThis.crypto, {
  get: (real, name) => (name === "getRandomValues" ? real.getRandomValues.bind(real) : undefined)
})

effect("without crypto.randomUUID, 2000 texts are all different, each of 32 hexadecimal digits", function* () {
  const texts = yield* Effect.replicateEffect(Unique.text, 2000).pipe(Effect.provide(WebCrypto.layer(insecure)))
  assert.strictEqual(new Set(texts).size, 2000)
  for (const text of texts) assert.match(text, /^[0-9a-f]{32}$/)
})
