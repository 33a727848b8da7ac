import { Authenticator, Credentials } from "@assembly-effect/auth"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Clock, DateTime, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { WebCrypto } from "effect/crypto"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"

const credentials = Credentials.layer({ key: "a-key", secret: Redacted.make("a-secret") })
const baseUrl = SecureUrl.make("https://api2.example.com")

const authenticate = (request: Partial<Parameters<Authenticator.Authenticator["Service"]["authenticate"]>[0]>) =>
  Effect.flatMap(Effect.all([Authenticator.Authenticator, Clock.currentTimeMillis]), ([service, now]) =>
    service.authenticate({ baseUrl, params: {}, nonceIn: "params", scope: undefined, now, ...request })
  )

const signed = (options?: Parameters<typeof Authenticator.layerSigned>[0]) =>
  Authenticator.layerSigned(options).pipe(Layer.provide(credentials))

const Params = Schema.fromJsonString(
  Schema.Struct({
    auth: Schema.Struct({ key: Schema.String, expires: Schema.String, nonce: Schema.optionalKey(Schema.String) }),
    nonce: Schema.optionalKey(Schema.String),
    region: Schema.optionalKey(Schema.String)
  })
)
const decode = Schema.decodeSync(Params)

const now = DateTime.makeUnsafe("2026-11-21T12:00:00Z")

describe("Authenticator.layerSigned", () => {
  it.effect("signs the exact text that is sent, with key, expiry and nonce in the params", signed(), function* () {
    yield* TestClock.setTime(now.epochMilliseconds)
    const proof = yield* authenticate({ params: { region: "all" } })
    assert(proof._tag === "Signature")
    const { auth, nonce, region } = decode(proof.params)
    assert.deepStrictEqual(auth, { key: "a-key", expires: "2026-11-21T12:05:00.000Z" })
    assert.match(nonce ?? "", /^[0-9a-f-]{36}$/)
    assert.strictEqual(region, "all")
    const expected = createHmac("sha384", "a-secret").update(proof.params).digest("hex")
    assert.strictEqual(Redacted.value(proof.signature), `sha384:${expected}`)
  })

  it.effect("replaces key, expiry and nonce of the params, and keeps max_size", signed(), function* () {
    const theirs = { key: "theirs", expires: "theirs", nonce: "theirs", max_size: 5 }
    for (const nonceIn of ["params", "auth"] as const) {
      const proof = yield* authenticate({ params: { nonce: "theirs", auth: theirs }, nonceIn })
      const { auth, nonce } = JSON.parse(proof.params)
      const own = nonceIn === "auth" ? auth.nonce : nonce
      assert.deepInclude(auth, { key: "a-key", max_size: 5 })
      assert.notInclude([auth.expires, own], "theirs")
    }
  })

  it.effect("puts the nonce into auth if nonceIn is `auth`", signed(), function* () {
    const proof = yield* authenticate({ nonceIn: "auth" })
    const { auth, nonce } = decode(proof.params)
    assert.isUndefined(nonce)
    assert.match(auth.nonce ?? "", /^[0-9a-f-]{36}$/)
  })

  it.effect("a nonce comes from the WebCrypto in the context", function* () {
    const own = WebCrypto.layer({ ...crypto, subtle: crypto.subtle, randomUUID: () => "1-2-3-4-5" })
    const { params } = yield* authenticate({}).pipe(Effect.provide(signed().pipe(Layer.provide(own))))
    assert.strictEqual(decode(params).nonce, "1-2-3-4-5")
  })

  it.effect("sets auth.expires to now plus window and skew (spec A-3)", signed({ window: "30 seconds" }), function* () {
    yield* TestClock.setTime(now.epochMilliseconds)
    const expiry = (clockSkew?: Duration.Input) =>
      Effect.map(
        authenticate(clockSkew === undefined ? {} : { clockSkew: Duration.fromInputUnsafe(clockSkew) }),
        ({ params }) => decode(params).auth.expires
      )
    assert.strictEqual(yield* expiry(), "2026-11-21T12:00:30.000Z")
    assert.strictEqual(yield* expiry("1 hour"), "2026-11-21T13:00:30.000Z")
    assert.strictEqual(yield* expiry(Duration.millis(-3_600_000)), "2026-11-21T11:00:30.000Z")
  })

  it.effect("100 concurrent requests have 100 different signed texts (spec A-4)", signed(), function* () {
    const proofs = yield* Effect.all(
      Array.from({ length: 100 }, () => authenticate({})),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(new Set(proofs.map(({ params }) => params)).size, 100)
  })

  it.effect("refused returns `final` for a signature", signed(), function* () {
    const authenticator = yield* Authenticator.Authenticator
    const proof = yield* authenticate({})
    assert.strictEqual(yield* authenticator.refused(proof, { code: "INVALID_SIGNATURE", status: 400 }), "final")
  })
})

describe("Authenticator.layerBearer", () => {
  it.effect.prop(
    "returns any params unchanged with the token, and refused returns `final`",
    [Schema.Record(Schema.String, Schema.Json)],
    ([params]) =>
      Effect.gen(function* () {
        const proof = yield* authenticate({ params, nonceIn: "auth" })
        assert(proof._tag === "Bearer")
        assert.strictEqual(proof.params, JSON.stringify(params))
        assert.strictEqual(Redacted.value(proof.token), "a-token")
        const seen = yield* Authenticator.Authenticator.use((service) => service.refused(proof, { status: 401 }))
        assert.strictEqual(seen, "final")
      }).pipe(Effect.provide(Authenticator.layerBearer(Redacted.make("a-token"))))
  )
})
