import { Emulator } from "@assembly-effect/emulator"
import { DateTime, Effect, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Keys from "./keys.ts"
import { signedFields } from "./signedCalls.ts"
import { hmac, layer as layerEmulator, send } from "./support.ts"
import { assert, effect, layer } from "@assembly-effect/testkit/flow"

const list = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  send(HttpClientRequest.get("/assemblies", { headers }).pipe(HttpClientRequest.setUrlParams(fields)))

const since = { fromdate: "2026-01-01 00:00:00" }

const signed = (auth: object, algorithm?: string) => signedFields(since, { auth, algorithm })

const refused = (answer: { readonly status: number; readonly text: string }, code: string) =>
  Keys.refused(answer, 400, code)

layer(layerEmulator())("Authentication", (it) => {
  it.effect.each(["sha384", "sha256", "sha1"])("accepts a signature of %s", function* (algorithm) {
    assert.strictEqual((yield* list(yield* signed({}, algorithm))).status, 200)
  })

  it.effect("accepts an expiry in any ISO 8601 form", function* () {
    for (const expires of ["2999-01-01T00:00Z", "2999-01-01T00:00:00", "2999-01-01T00:00:00.123+02:00"]) {
      assert.strictEqual((yield* list(yield* signed({ expires }))).status, 200)
    }
  })

  it.effect("refuses what is missing (spec A-1)", function* () {
    const { key } = (yield* Emulator.Emulator).credentials
    const { params } = yield* signed({})
    const paramsWith = (auth: object) => ({ params: JSON.stringify({ ...since, auth }) })
    for (const [fields, code] of [
      [{}, "NO_AUTH_PARAMETER"],
      [{ params: "{}" }, "NO_AUTH_PARAMETER"],
      [paramsWith({}), "NO_AUTH_KEY_PARAMETER"],
      [paramsWith({ key }), "NO_AUTH_EXPIRES_PARAMETER"],
      [{ params }, "NO_SIGNATURE_FIELD"]
    ] as const) {
      refused(yield* list(fields), code)
    }
  })

  it.effect("refuses a signature of another secret or text, or of no known form", function* () {
    const { params, signature } = yield* signed({})
    for (const [sent, proof] of [
      [params, hmac(params, Redacted.make("another"))],
      [params.replace("2026-01-01", "2026-01-02"), signature],
      // The JSON value is the same, but its text differs.
      [`${params} `, signature],
      [params, signature.slice("sha384:".length)],
      [params, signature.replace("sha384", "sha512")],
      [params, signature.slice(0, -2)]
    ] as const) {
      refused(yield* list({ params: sent, signature: proof }), "INVALID_SIGNATURE")
    }
  })

  it.effect.each(["tomorrow", "2999-02-30T00:00", "2999-13-01T00:00:00Z", "32503680000", "2999-01-01"])(
    "refuses %s as an expiry",
    function* (expires) {
      refused(yield* list(yield* signed({ expires })), "INVALID_AUTH_EXPIRES_PARAMETER")
    }
  )

  it.effect("refuses a signature that was used (spec A-4)", function* () {
    const fields = yield* signed({})
    assert.strictEqual((yield* list(fields)).status, 200)
    refused(yield* list(fields), "SIGNATURE_REUSE_DETECTED")
    // A signature with upper-case digits is the same signature.
    const [algorithm, digits = ""] = fields.signature.split(":")
    refused(yield* list({ ...fields, signature: `${algorithm}:${digits.toUpperCase()}` }), "SIGNATURE_REUSE_DETECTED")
  })

  it.effect("takes a referer that auth.referer matches, and a request without one", function* () {
    const auth = { referer: "^https://example\\.com/" }
    const status = (headers: Readonly<Record<string, string>>) =>
      Effect.flatMap(signed(auth), (fields) => Effect.map(list(fields, headers), (answer) => answer.status))
    assert.strictEqual(yield* status({}), 200)
    assert.strictEqual(yield* status({ referer: "https://example.com/page" }), 200)
    refused(yield* list(yield* signed(auth), { referer: "https://example.org/" }), "REFERER_MISMATCH")
    refused(yield* list(yield* signed({ referer: "(" }), { referer: "https://example.com/" }), "REFERER_MISMATCH")
  })

  it.effect.each([1.5, {}, null])("refuses the nonce %j", function* (nonce) {
    refused(yield* list(yield* signed({ nonce })), "ASSEMBLY_LIST_ERROR")
    refused(yield* list(yield* signedFields({ ...since, nonce })), "ASSEMBLY_LIST_ERROR")
  })

  it.effect("refuses an Auth Key that is not there", function* () {
    refused(yield* list(yield* signed({ key: "nobody" })), "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
  })
})

const writer = { key: "writer", secret: Redacted.make("secret"), scopes: ["assemblies:write"] }

effect(
  "a request beyond the scopes of its key uses up its signature",
  layerEmulator({ credentials: writer }),
  function* () {
    const fields = yield* signed({})
    refused(yield* list(fields), "INSUFFICIENT_AUTH_SCOPE")
    refused(yield* list(fields), "SIGNATURE_REUSE_DETECTED")
  }
)

effect(
  "an expiry of the current millisecond is AUTH_EXPIRED, one of the next is accepted (spec A-3)",
  layerEmulator(),
  function* () {
    const now = yield* DateTime.now
    refused(yield* list(yield* signed({ expires: DateTime.formatIso(now) })), "AUTH_EXPIRED")
    const next = DateTime.formatIso(DateTime.add(now, { milliseconds: 1 }))
    assert.strictEqual((yield* list(yield* signed({ expires: next }))).status, 200)
  }
)
