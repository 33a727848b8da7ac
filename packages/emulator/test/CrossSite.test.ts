import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import { operations } from "../../api/test/utils/operations.ts"
import * as Raw from "./raw.ts"
import { json, layer as layerEmulator } from "./support.ts"
import { signedFields } from "./signedCalls.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const origin = "https://evil.example"
const id = "0".repeat(32)

/** The routes that a page of another origin may use. */
const open = ["POST /assemblies", `POST /assemblies/${id}`, `GET /assemblies/${id}`, `DELETE /assemblies/${id}`].concat(
  [`GET /assemblies/${id}/updates`, "POST /resumable/files/", "OPTIONS /resumable/files/"],
  ["HEAD", "GET", "PATCH", "DELETE"].map((method) => `${method} /resumable/files/${id}`)
)
const closed = operations
  .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, id)}`)
  .concat("POST /token", "GET /", "POST /anything/else")

/** Every route, and whether a page of another origin may use it. */
const routes = [...new Set([...open, ...closed])].map((route) => {
  const [method = "", path = ""] = route.split(" ")
  return [method, path, open.includes(route) ? "open" : "closed"] as const
})

/** What a page sends with `tus-js-client`, Uppy and our client, and what it reads. */
const sent = ["authorization", "content-type", "tus-resumable", "transloadit-client", "upload-checksum"].concat([
  "upload-concat",
  "upload-defer-length",
  "upload-length",
  "upload-metadata",
  "upload-offset"
])
const read = ["location", "tus-resumable", "upload-concat", "upload-expires", "upload-length", "upload-offset"]

const listed = ({ headers }: Raw.Answer, name: string) => String(headers[`access-control-${name}`]).split(", ")

const changes = (method: string) => !["GET", "HEAD", "OPTIONS"].includes(method)

layer(layerEmulator())("A page of another origin", (it) => {
  it.effect.each(routes)("%s %s: preflight and request are %s", function* ([method, path, access]) {
    const preflight = yield* Raw.sendTo(path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method }
    })
    const answer = yield* Raw.sendTo(path, { method, headers: { origin } })
    if (access === "open") {
      assert.include([200, 204], preflight.status)
      assert.include(listed(preflight, "allow-methods"), method)
      assert.includeMembers(listed(preflight, "allow-headers"), sent)
      assert.includeMembers(listed(answer, "expose-headers"), read)
      for (const { headers } of [preflight, answer]) {
        assert.deepInclude(headers, { "access-control-allow-origin": origin, vary: "Origin" })
        // The response does not permit the browser to send cookies or passwords.
        assert.notProperty(headers, "access-control-allow-credentials")
      }
      assert.notInclude(answer.text, "ORIGIN_NOT_ALLOWED")
      return
    }
    assert.strictEqual(preflight.status, 403)
    for (const { headers } of [preflight, answer]) {
      assert.isEmpty(Object.keys(headers).filter((name) => name.startsWith("access-control-")))
    }
    if (changes(method)) assert.deepInclude(json(answer), { error: "ORIGIN_NOT_ALLOWED", http_code: 403 })
    else assert.notInclude(answer.text, "ORIGIN_NOT_ALLOWED")
  })

  const signedForm = (params: object = {}) =>
    Effect.map(signedFields(params), (fields) => String(new URLSearchParams(fields)))

  it.effect.each([
    ["a foreign page", { origin }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a page of another port", { origin: "http://127.0.0.1:1" }, 403],
    ["a foreign page that hides its origin", { "sec-fetch-site": "cross-site" }, 403],
    ["a page of the same site", { origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" }, 403],
    ["a page behind the same proxy", { origin: "http://localhost:5173", "sec-fetch-site": "same-origin" }, 200],
    ["a page of this origin", { origin: "own" }, 200],
    ["a page of this origin by another name", { origin: "http://app.localhost:9", host: "App.localhost:9" }, 200],
    ["a person, from no page", { "sec-fetch-site": "none" }, 200],
    ["a program", {}, 200]
  ] as const)("a form that %s posts without a preflight replays or not", function* ([, given, status]) {
    const { localUrl } = yield* Emulator.Emulator
    const { assembly_id } = yield* Assemblies.create({})
    const headers = { ...given, ...("origin" in given && given.origin === "own" ? { origin: localUrl } : {}) }
    const answer = yield* Raw.sendTo(`/assemblies/${assembly_id}/replay`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: yield* signedForm()
    })
    assert.strictEqual(answer.status, status)
  })

  it.effect("gets no preflight for a method that uploads do not know", function* () {
    const answer = yield* Raw.sendTo(`/resumable/files/${id}`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "PUT" }
    })
    assert.strictEqual(answer.status, 403)
    assert.notProperty(answer.headers, "access-control-allow-origin")
  })

  it.effect("is told of no header if it does not name itself", function* () {
    const { headers } = yield* Raw.sendTo("/resumable/files/", { method: "OPTIONS" })
    assert.notProperty(headers, "access-control-allow-origin")
    assert.notProperty(headers, "access-control-allow-headers")
  })
})

const publicUrl = "https://dev.example.com"

layer(layerEmulator({ publicUrl }))("A page of the public URL", (it) => {
  it.effect.each([
    [publicUrl, 404],
    [`${publicUrl}.evil.example`, 403]
  ] as const)("behind a proxy that names another host is one of this origin: %s, %s", function* ([page, status]) {
    const { localUrl } = yield* Emulator.Emulator
    const headers = { origin: page, host: new URL(localUrl).host }
    assert.strictEqual((yield* Raw.sendTo("/anything/else", { method: "POST", headers })).status, status)
  })
})
