import { Emulator } from "@assembly-effect/emulator"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { hmac, json, layer as layerEmulator, send } from "./support.ts"
import { assert, effect, layer } from "@assembly-effect/testkit/flow"

type Fields = Readonly<Record<string, string>>

const basic = (key: string, secret: Redacted.Redacted) =>
  `Basic ${Buffer.from(`${key}:${Redacted.value(secret)}`).toString("base64")}`

const form = { grant_type: "client_credentials", aud: "api2", scope: "assemblies:read" }

const ask = (fields: Fields, authorization: string | undefined) =>
  send(
    HttpClientRequest.post("/token", { headers: authorization === undefined ? {} : { authorization } }).pipe(
      HttpClientRequest.bodyUrlParams(fields)
    )
  )

const askWith = Effect.fnUntraced(function* (fields: Fields) {
  const { key, secret } = (yield* Emulator.Emulator).credentials
  return yield* ask(fields, basic(key, secret))
})

const mint = (scope: string) =>
  Effect.map(askWith({ ...form, scope }), (answer) => String(json(answer)["access_token"]))

const list = (token: string, fields: Fields = {}) =>
  send(
    HttpClientRequest.get("/assemblies", { headers: { authorization: `Bearer ${token}` } }).pipe(
      HttpClientRequest.setUrlParams({ params: JSON.stringify({ fromdate: "2026-01-01 00:00:00" }), ...fields })
    )
  )

const refused = (answer: { readonly status: number; readonly text: string }, status: number, code: string) => {
  const { error, http_code } = json(answer)
  assert.deepStrictEqual({ status: answer.status, error, http_code }, { status, error: code, http_code: status })
}

layer(layerEmulator())("POST /token", (it) => {
  it.effect("answers a token that opens what its scope says", function* () {
    const answer = yield* askWith(form)
    const { access_token: token, ...rest } = json(answer)
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 3600, scope: "assemblies:read" })
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    assert.strictEqual((yield* list(String(token))).status, 200)
    // A valid token can be used more than once.
    assert.strictEqual((yield* list(String(token))).status, 200)
  })

  it.effect("grants several scopes at once, and all of the Auth Key where none is named", function* () {
    assert.strictEqual(
      json(yield* askWith({ ...form, scope: "dam:write assemblies:read" }))["scope"],
      "dam:write assemblies:read"
    )
    const { scope: _, ...unscoped } = form
    assert.strictEqual(json(yield* askWith(unscoped))["scope"], "read write smart_cdn:sign")
  })

  it.effect("refuses who is not known", function* () {
    const { key, secret } = (yield* Emulator.Emulator).credentials
    refused(yield* ask(form, undefined), 401, "SERVER_401")
    refused(yield* ask(form, "Basic %"), 401, "SERVER_401")
    refused(yield* ask(form, `Basic ${Buffer.from("no colon").toString("base64")}`), 401, "SERVER_401")
    refused(yield* ask(form, "Bearer x"), 401, "SERVER_401")
    refused(yield* ask(form, basic("nobody", secret)), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    refused(yield* ask(form, basic(key, Redacted.make("another"))), 401, "TOKEN_INVALID_CREDENTIALS")
    refused(yield* ask(form, basic(key, Redacted.make(`${Redacted.value(secret)}0`))), 401, "TOKEN_INVALID_CREDENTIALS")
  })

  it.effect("refuses a form that is not that of spec.md", function* () {
    const { key, secret } = (yield* Emulator.Emulator).credentials
    refused(yield* askWith({ ...form, grant_type: "password" }), 400, "TOKEN_INVALID_GRANT_TYPE")
    refused(yield* askWith({ ...form, aud: "mars" }), 403, "TOKEN_INVALID_AUDIENCE")
    refused(yield* askWith({ ...form, scope: "" }), 403, "TOKEN_INVALID_SCOPE")
    refused(yield* askWith({ ...form, scope: "read  write" }), 403, "TOKEN_INVALID_SCOPE")
    refused(yield* askWith({ grant_type: "password", aud: "mars" }), 400, "TOKEN_INVALID_GRANT_TYPE")
    refused(yield* askWith({ aud: "mars" }), 400, "TOKEN_INVALID_REQUEST")
    refused(yield* askWith({ aud: "api2" }), 400, "TOKEN_INVALID_REQUEST")
    refused(yield* askWith({ grant_type: "client_credentials" }), 400, "TOKEN_INVALID_REQUEST")
    const asJson = HttpClientRequest.post("/token", { headers: { authorization: basic(key, secret) } }).pipe(
      HttpClientRequest.bodyJsonUnsafe(form)
    )
    refused(yield* send(asJson), 400, "TOKEN_INVALID_REQUEST")
  })
})

layer(layerEmulator())("A bearer token", (it) => {
  it.effect("opens nothing beyond its scopes", function* () {
    refused(yield* list(yield* mint("dam:write")), 400, "INSUFFICIENT_AUTH_SCOPE")
    refused(yield* list(yield* mint("write")), 400, "INSUFFICIENT_AUTH_SCOPE")
    assert.strictEqual((yield* list(yield* mint("read"))).status, 200)
  })

  it.effect("is not one when a single character differs", function* () {
    const token = yield* mint("assemblies:read")
    for (let index = 0; index < token.length - 1; index++) {
      const character = token.charAt(index)
      const changed = token.slice(0, index) + (character === "A" ? "B" : "A") + token.slice(index + 1)
      refused(yield* list(changed), 400, "BEARER_TOKEN_INVALID")
    }
    for (const other of ["x", "a.b.c", `${token}.x`, "..", token.slice(0, -8), hmac("x", Redacted.make("y"))]) {
      refused(yield* list(other), 400, "BEARER_TOKEN_INVALID")
    }
  })

  it.effect("of another service is not one", function* () {
    const foreign = yield* mint("assemblies:read").pipe(Effect.provide(layerEmulator()))
    refused(yield* list(foreign), 400, "BEARER_TOKEN_INVALID")
  })

  it.effect("allows auth of the same Auth Key beside it, and no signature (spec A-5)", function* () {
    const { key, secret } = (yield* Emulator.Emulator).credentials
    const token = yield* mint("assemblies:read")
    const withAuth = (auth: object) => ({
      params: JSON.stringify({ fromdate: "2026-01-01 00:00:00", nonce: "1", auth })
    })
    assert.strictEqual((yield* list(token, withAuth({ key }))).status, 200)
    assert.strictEqual((yield* list(token, withAuth({ key, expires: "2999-01-01T00:00:00Z" }))).status, 200)
    refused(yield* list(token, withAuth({ key, expires: "2026-01-01T00:00:00Z" })), 400, "AUTH_EXPIRED")
    refused(yield* list(token, withAuth({ key: "another" })), 400, "BEARER_TOKEN_AUTH_KEY_MISMATCH")
    const { params } = withAuth({ key, expires: "2999-01-01T00:00:00Z" })
    refused(yield* list(token, { params, signature: hmac(params, secret) }), 400, "INVALID_SIGNATURE")
  })
})

const start = TestClock.setTime(DateTime.makeUnsafe("2026-11-21T12:00:00Z").epochMilliseconds)

// The clock is set before the emulator starts. Otherwise the emulator would run its hourly work once for each hour
// since 1970.
const later = layerEmulator().pipe(Layer.provide(Layer.effectDiscard(start)))

effect("a bearer token that has expired is told from a token that never was one", later, function* () {
  const token = yield* mint("assemblies:read")
  yield* TestClock.adjust("59 minutes")
  assert.strictEqual((yield* list(token)).status, 200)
  yield* TestClock.adjust("1 minute")
  refused(yield* list(token), 400, "BEARER_TOKEN_EXPIRED")
})
