import { Credentials, type Signer, Webhook } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted } from "effect"
import { createHmac } from "node:crypto"

const webhook = (algorithms?: ReadonlyArray<Signer.Algorithm>) =>
  Webhook.layer({ algorithms }).pipe(Layer.provide(Credentials.layer({ key: "k", secret: Redacted.make("s3cr3t") })))

const transloadit = '{"ok":"ASSEMBLY_COMPLETED","assembly_id":"0123456789abcdef0123456789abcdef","results":{}}'

// printf '%s' "$transloadit" | openssl dgst -<algorithm> -hmac s3cr3t
const sha384 = "sha384:11a78a0ab9a25aa3eee884bf95955a1d2f2ce1733e0f9eefbb60622e4cb138bf129e3657318c943c09715cc6869afb94"
const sha256 = "sha256:2a3095bd23ee85915afa67d34b10f7eaacd98825214a803adf70cea5764f3e1f"
const sha1 = "b6dde39a1f07d0f9a74d7947e3773cc2264d1d96"

const hmac = (text: string, secret = "s3cr3t") => `sha384:${createHmac("sha384", secret).update(text).digest("hex")}`

const refuses = (signature: string, text = transloadit) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(Webhook.verify({ transloadit: text, signature }))
    assert.strictEqual(error._tag, "SignatureMismatch")
    return error
  })

describe("Webhook.verify", () => {
  const signatures = [sha384, sha256, ` ${sha384}\r\n`, sha384.replace("sha384", "SHA384")]
  it.effect.each(signatures)("returns the Status for the signature %s of openssl", webhook(), function* (signature) {
    assert.deepStrictEqual<object>(yield* Webhook.verify({ transloadit, signature }), JSON.parse(transloadit))
  })

  it.effect("returns the Status without a malformed optional field", webhook(), function* () {
    const text = transloadit.replace('"results":{}', '"region":5,"results":{"a":[{"original_id":["x",null]}]}')
    const status = yield* Webhook.verify({ transloadit: text, signature: hmac(text) })
    assert.isFalse("region" in status)
    assert.deepStrictEqual(status.results?.["a"]?.[0]?.original_id, ["x", null])
  })

  it.effect("accepts sha1 with and without a prefix only if algorithms is [sha1]", function* () {
    yield* refuses(sha1).pipe(Effect.provide(webhook()))
    yield* refuses(`sha1:${sha1}`).pipe(Effect.provide(webhook()))
    for (const signature of [sha1, `sha1:${sha1}`]) {
      const status = yield* Webhook.verify({ transloadit, signature }).pipe(Effect.provide(webhook(["sha1"])))
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    }
    yield* refuses(sha384).pipe(Effect.provide(webhook(["sha1"])))
  })

  it.effect("refuses another secret, another text and every other form of the signature", webhook(), function* () {
    yield* refuses(hmac(transloadit, "another"))
    yield* refuses(sha384, transloadit.replace("COMPLETED", "CANCELED"))
    yield* refuses(sha384, `${transloadit} `)
    const digits = sha384.slice("sha384:".length)
    const prefixed = ["sha256:", "sha512:", "constructor:", "sha384: ", " :sha384:", ""].map(
      (prefix) => prefix + digits
    )
    const changed = [`x${digits.slice(1)}`, `2${digits.slice(1)}`, `${digits.slice(0, -1)}5`, digits.slice(0, -2)]
    const others = ["", `${digits}00`, ...changed].map((end) => `sha384:${end}`)
    for (const signature of ["", "sha384", sha384.toUpperCase(), ...prefixed, ...others]) yield* refuses(signature)
  })

  const nested = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`
  it.effect.each([
    ["not JSON https://secret.example/capability", [], "the text is not JSON"],
    ["[]", [], "the value is invalid"],
    [transloadit.replace("{}", nested), [], "the text is nested deeper than 128 levels"],
    ['{"ok":"ASSEMBLY_COMPLETED"}', ["assembly_id"], "assembly_id is invalid"],
    [`{"assembly_id":"${"a".repeat(32)}","ok":["https://secret.example/capability"]}`, ["ok"], "ok is invalid"]
  ] as const)("fails for a signed text that is no Status (%#)", webhook(), function* ([text, path, problem]) {
    const error = yield* Effect.flip(Webhook.verify({ transloadit: text, signature: hmac(text) }))
    assert(error._tag === "MalformedNotification")
    assert.deepStrictEqual({ path: error.path, description: error.description }, { path, description: problem })
    assert.notInclude(error.message, "capability")
  })
})
