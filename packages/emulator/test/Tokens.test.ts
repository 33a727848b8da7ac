import { Emulator } from "@assembly-effect/emulator"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { askWith, basic, callWithToken, listWithToken, refused, tokenOf } from "./keys.ts"
import { requestOf } from "./signedCalls.ts"
import { hmac, json, layer as layerEmulator, send } from "./support.ts"
import { assert, effect, layer } from "@assembly-effect/testkit/flow"

const form = { grant_type: "client_credentials", aud: "api2", scope: "assemblies:read" }

const own = Effect.map(Emulator.Emulator, ({ credentials }) => credentials)

const ask = (fields: Readonly<Record<string, string>>) => Effect.flatMap(own, (pair) => askWith(fields, basic(pair)))

const reader = Effect.flatMap(own, (pair) => tokenOf(pair, "assemblies:read"))

layer(layerEmulator())("POST /token", (it) => {
  it.effect("answers a token that opens what its scope says", function* () {
    const answer = yield* ask(form)
    const { access_token: token, ...rest } = json(answer)
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 3600, scope: "assemblies:read" })
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    // A valid token can be used more than once.
    for (const _ of [1, 2]) assert.strictEqual((yield* listWithToken(String(token))).status, 200)
  })

  it.effect("grants several scopes at once, and all of the Auth Key where none is named", function* () {
    const { scope: _, ...unscoped } = form
    for (const [fields, granted] of [
      [{ ...form, scope: "dam:write assemblies:read" }, "dam:write assemblies:read"],
      [unscoped, "read write smart_cdn:sign"]
    ] as const) {
      assert.strictEqual(json(yield* ask(fields))["scope"], granted)
    }
  })

  it.effect("refuses who is not known", function* () {
    const { key, secret } = yield* own
    const other = (text: string) => Redacted.make(text)
    for (const [authorization, status, code] of [
      [undefined, 401, "SERVER_401"],
      ["Basic %", 401, "SERVER_401"],
      [`Basic ${btoa("no colon")}`, 401, "SERVER_401"],
      ["Bearer x", 401, "SERVER_401"],
      [basic({ key: "nobody", secret }), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY"],
      [basic({ key, secret: other("another") }), 401, "TOKEN_INVALID_CREDENTIALS"],
      [basic({ key, secret: other(`${Redacted.value(secret)}0`) }), 401, "TOKEN_INVALID_CREDENTIALS"]
    ] as const) {
      refused(yield* askWith(form, authorization), status, code)
    }
  })

  it.effect("refuses a form that is not that of spec.md", function* () {
    for (const [fields, status, code] of [
      [{ ...form, grant_type: "password" }, 400, "TOKEN_INVALID_GRANT_TYPE"],
      [{ ...form, aud: "mars" }, 403, "TOKEN_INVALID_AUDIENCE"],
      [{ ...form, scope: "" }, 403, "TOKEN_INVALID_SCOPE"],
      [{ ...form, scope: "read  write" }, 403, "TOKEN_INVALID_SCOPE"],
      [{ grant_type: "password", aud: "mars" }, 400, "TOKEN_INVALID_GRANT_TYPE"],
      [{ aud: "mars" }, 400, "TOKEN_INVALID_REQUEST"],
      [{ grant_type: "client_credentials" }, 400, "TOKEN_INVALID_REQUEST"]
    ] as const) {
      refused(yield* ask(fields), status, code)
    }
    const asJson = HttpClientRequest.post("/token", { headers: { authorization: basic(yield* own) } }).pipe(
      HttpClientRequest.bodyJsonUnsafe(form)
    )
    refused(yield* send(asJson), 400, "TOKEN_INVALID_REQUEST")
  })
})

layer(layerEmulator())("A bearer token", (it) => {
  it.effect("is not one when a single character differs", function* () {
    const token = yield* reader
    for (let index = 0; index < token.length - 1; index++) {
      const character = token.charAt(index)
      const changed = token.slice(0, index) + (character === "A" ? "B" : "A") + token.slice(index + 1)
      refused(yield* listWithToken(changed), 400, "BEARER_TOKEN_INVALID")
    }
    for (const other of ["x", "a.b.c", `${token}.x`, "..", token.slice(0, -8), hmac("x", Redacted.make("y"))]) {
      refused(yield* listWithToken(other), 400, "BEARER_TOKEN_INVALID")
    }
  })

  it.effect("of another service is not one", function* () {
    const foreign = yield* reader.pipe(Effect.provide(layerEmulator()))
    refused(yield* listWithToken(foreign), 400, "BEARER_TOKEN_INVALID")
  })

  it.effect("allows auth of the same Auth Key beside it, and no signature (spec A-5)", function* () {
    const { key, secret } = yield* own
    const token = yield* reader
    const expires = "2999-01-01T00:00:00Z"
    const since = { fromdate: "2026-01-01 00:00:00", nonce: "1" }
    const list = (auth: object) => callWithToken("GET", "/assemblies", token, { ...since, auth })
    for (const auth of [{ key }, { key, expires }]) assert.strictEqual((yield* list(auth)).status, 200)
    refused(yield* list({ key, expires: "2026-01-01T00:00:00Z" }), 400, "AUTH_EXPIRED")
    refused(yield* list({ key: "another" }), 400, "BEARER_TOKEN_AUTH_KEY_MISMATCH")
    const params = JSON.stringify({ ...since, auth: { key, expires } })
    const signed = requestOf("GET", "/assemblies", { params, signature: hmac(params, secret) })
    const both = HttpClientRequest.setHeader(signed, "authorization", `Bearer ${token}`)
    refused(yield* send(both), 400, "INVALID_SIGNATURE")
  })
})

const start = TestClock.setTime(DateTime.makeUnsafe("2026-11-21T12:00:00Z").epochMilliseconds)

// The clock is set before the emulator starts. Otherwise the emulator would run its hourly work once for each hour
// since 1970.
const later = layerEmulator().pipe(Layer.provide(Layer.effectDiscard(start)))

effect("a bearer token that has expired is told from a token that never was one", later, function* () {
  const token = yield* reader
  yield* TestClock.adjust("59 minutes")
  assert.strictEqual((yield* listWithToken(token)).status, 200)
  yield* TestClock.adjust("1 minute")
  refused(yield* listWithToken(token), 400, "BEARER_TOKEN_EXPIRED")
})
