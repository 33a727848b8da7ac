import { Credentials, Signer, Webhook } from "@assembly-effect/auth"
import { assert, describe, it, vi } from "@assembly-effect/testkit/flow"
import { Effect, Exit, Layer, Redacted, Schema } from "effect"
import { createHmac, createSecretKey } from "node:crypto"
import { inspect } from "node:util"
import { runInNewContext } from "node:vm"

/** Credentials that a program provides directly, without validation. */
const unchecked = (secret: string) =>
  Layer.succeed(Credentials.Credentials, { key: "k", secret: Redacted.make(secret) })

const signer = (secret: string, algorithm?: Signer.Algorithm) =>
  Signer.layerHmac({ algorithm }).pipe(Layer.provide(unchecked(secret)))

const nodeSigner = (secret: string, algorithm?: Signer.Algorithm) =>
  Signer.layerFrom(
    (hidden, name) => {
      const key = createSecretKey(Redacted.value(hidden), "utf8")
      return (text) => createHmac(name, key).update(text).digest("hex")
    },
    { algorithm }
  ).pipe(Layer.provide(unchecked(secret)))

const sign = (text: string) => Signer.Signer.use((service) => Effect.map(service.sign(text), Redacted.value))

// P='{"auth":{"key":"k","expires":"2030-01-01T00:00:00.000Z"},"nonce":"1"}'
// printf '%s' "$P" | openssl dgst -<algorithm> -hmac s3cr3t
const ascii = '{"auth":{"key":"k","expires":"2030-01-01T00:00:00.000Z"},"nonce":"1"}'
const known = {
  sha384: "13348e58ffe48d6c17c5064b6c6dd6f7821e397bbf87a085afaefbe0ca30bca64fd9d8d6eb0bcbbbdc8eda538484b84b",
  sha256: "bb6a60d7f737df261e1c01d386495ade1c55703176b07a345d66f7bde77ad252",
  sha1: "cd872668204eecbd1ddab42c0e5fb67deebf789e"
} as const

describe("Signer", () => {
  it.effect.each(["sha384", "sha256", "sha1"] as const)("signs with %s as openssl does", (algorithm) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sign(ascii), `${algorithm}:${known[algorithm]}`)
    }).pipe(Effect.provide(signer("s3cr3t", algorithm)))
  )

  it.effect("signs and verifies with a TextEncoder of another realm, as in jsdom", () =>
    Effect.gen(function* () {
      const Foreign: typeof Uint8Array = runInNewContext("Uint8Array")
      const encode = (text: string) => new Foreign(Buffer.from(text))
      vi.stubGlobal(
        "TextEncoder",
        class {
          encode = encode
        }
      )
      const signature = yield* Effect.provide(sign(ascii), signer("s3cr3t"))
      assert.strictEqual(signature, `sha384:${known.sha384}`)
      const webhook = yield* Effect.provide(Webhook.Webhook, Layer.provide(Webhook.layer(), unchecked("s3cr3t")))
      const error = yield* Effect.flip(webhook.verify({ transloadit: ascii, signature }))
      assert.strictEqual(error._tag, "MalformedNotification")
    }).pipe(Effect.ensuring(Effect.sync(() => vi.unstubAllGlobals())))
  )

  // P='{"auth":{"key":"k","expires":"2030-01-01T00:00:00.000Z","nonce":"ä €"},"fromdate":"2026-01-01 00:00:00"}'
  // printf '%s' "$P" | openssl dgst -sha384 -hmac 'schlüssel'
  it.effect("signs the UTF-8 bytes of text and secret", signer("schlüssel"), function* () {
    const text =
      '{"auth":{"key":"k","expires":"2030-01-01T00:00:00.000Z","nonce":"ä €"},"fromdate":"2026-01-01 00:00:00"}'
    assert.strictEqual(
      yield* sign(text),
      "sha384:2becc7911575515b4818fbee605f205b1b0b5d82a2c9fabdbd6ed42b1e14d65a4184e6088634a42bce760214b9bfa5d3"
    )
  })

  it.effect.prop(
    "layerHmac and layerFrom sign every text with every secret as node:crypto does",
    [Schema.String, Schema.NonEmptyString, Schema.Literals(["sha384", "sha256", "sha1"])],
    ([text, secret, algorithm]) =>
      Effect.gen(function* () {
        const expected = `${algorithm}:${createHmac(algorithm, secret).update(text, "utf8").digest("hex")}`
        for (const make of [signer, nodeSigner]) {
          assert.strictEqual(yield* Effect.provide(sign(text), make(secret, algorithm)), expected)
        }
      })
  )

  it.effect("layerFrom makes one HMAC for two signatures, by default with sha384", function* () {
    const asked: Array<string> = []
    const layer = Signer.layerFrom((secret, algorithm) => {
      asked.push(`${algorithm} ${Redacted.value(secret)}`)
      return (text) => text
    }).pipe(Layer.provide(Credentials.layer({ key: "k", secret: Redacted.make("s3cr3t") })))
    const signatures = Effect.all([sign("a"), sign("b")])
    assert.deepStrictEqual(yield* Effect.provide(signatures, layer), ["sha384:a", "sha384:b"])
    assert.deepStrictEqual(asked, ["sha384 s3cr3t"])
  })

  it.effect.each([signer, nodeSigner])("an inspected Signer shows neither the secret nor a signature", (layer) =>
    Effect.gen(function* () {
      const service = yield* Signer.Signer
      const shown = inspect([service, yield* service.sign(ascii)], { depth: Infinity, showHidden: true })
      assert.notInclude(shown, "s3cr3t")
      assert.notInclude(shown, known.sha384)
    }).pipe(Effect.provide(layer("s3cr3t")))
  )

  it.effect.each([signer, nodeSigner])("an empty secret is a defect", function* (layer) {
    assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(Layer.build(layer(""))))))
  })

  it.effect("signs with an implementation of Signer that the program provides", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sign("text"), "none:text")
    }).pipe(Effect.provideService(Signer.Signer, { sign: (text) => Effect.succeed(Redacted.make(`none:${text}`)) }))
  )
})
