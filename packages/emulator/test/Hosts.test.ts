import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as TcpProxy from "@assembly-effect/testkit/hostile/TcpProxy"
import { sendTo } from "./raw.ts"
import { createUpload, json, layer as layerEmulator, patch } from "./support.ts"
import { signedFields } from "./signedCalls.ts"
import { assert, layer, live } from "@assembly-effect/testkit/flow"

const noAssembly = "/assemblies/00000000000000000000000000000000"

/** Requests the Status of an unknown Assembly at a host, and returns the error code. */
const codeAt = (host: string) =>
  Effect.map(sendTo(noAssembly, { headers: { host } }), (answer) => json(answer)["error"])

layer(layerEmulator())("An emulator", (it) => {
  const own = "127.0.0.1 127.1.2.3:80 localhost:9 LOCALHOST localhost. app.localhost:5173 [::1]"
  it.effect.each(own.split(" "))("answers at the loopback name %s", function* (host) {
    assert.strictEqual(yield* codeAt(host), "ASSEMBLY_NOT_FOUND")
  })

  it.effect.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8080",
    "notlocalhost",
    "localhost@evil.example",
    "192.168.1.2",
    "0.0.0.0",
    "[fe80::1]",
    "2130706433.evil.example"
  ])("does not answer at %s, whose name a page may point to this machine", function* (host) {
    const answer = yield* sendTo(noAssembly, { headers: { host, origin: `http://${host}` } })
    assert.strictEqual(answer.status, 421)
    assert.deepInclude(json(answer), { error: "HOST_NOT_ALLOWED", http_code: 421 })
    assert.match(answer.text, /allowedHosts \(--allowed-host\).*publicUrl \(--public-url\)/)
    assert.notProperty(answer.headers, "access-control-allow-origin")
  })

  it.effect("repeats no more of a host than a host name has characters", function* () {
    const answer = yield* sendTo(noAssembly, { headers: { host: `${"x".repeat(10_000)}.example` } })
    assert.strictEqual(answer.status, 421)
    assert.include(answer.text, `the host \\"${"x".repeat(253)}\\".`)
  })

  it.effect("does not answer where no host is named", function* () {
    const { localUrl } = yield* Emulator.Emulator
    const { port } = new URL(localUrl)
    const answer = yield* Loopback.exchange(Number(port), `GET ${noAssembly} HTTP/1.0\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 421 /)
  })

  it.effect("does nothing for another host, whatever is signed", function* () {
    const body = String(new URLSearchParams(yield* signedFields()))
    const sent = (host: string) =>
      sendTo("/assemblies", {
        method: "POST",
        headers: { host, "content-type": "application/x-www-form-urlencoded" },
        body
      })
    assert.strictEqual((yield* sent("evil.example")).status, 421)
    // The refused request has not used up the signature.
    assert.strictEqual((yield* sent("localhost")).status, 200)
  })

  it.effect("says it to a client of tus in the form that this reads", function* () {
    const answer = yield* sendTo("/resumable/files/", { method: "POST", headers: { host: "evil\u009b2J.example" } })
    assert.strictEqual(answer.status, 421)
    assert.match(answer.text, /^ERR_HOST_NOT_ALLOWED: .*"evil\\x9b2J\.example".*\n$/)
  })
})

layer(layerEmulator({ publicUrl: "https://dev.example.com:8443/", allowedHosts: ["Emulator.Internal"] }))(
  "An emulator with hosts of its own",
  (it) => {
    it.effect("answers at them and on loopback", function* () {
      for (const host of ["dev.example.com:8443", "dev.example.com", "emulator.internal:1", "127.0.0.1"]) {
        assert.strictEqual(yield* codeAt(host), "ASSEMBLY_NOT_FOUND", host)
      }
      for (const host of ["example.com", "a.dev.example.com", "internal"]) {
        assert.strictEqual(yield* codeAt(host), "HOST_NOT_ALLOWED", host)
      }
    })
  }
)

live("everything that is handed out names the public URL, and works through a proxy", function* () {
  const proxy = yield* TcpProxy.make()
  const publicUrl = `http://localhost:${proxy.port}`
  yield* Effect.gen(function* () {
    const { baseUrl, localUrl } = yield* Emulator.Emulator
    assert.strictEqual(baseUrl, publicUrl)
    assert.notStrictEqual(localUrl, publicUrl)
    proxy.to(localUrl)
    const status = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const created = yield* createUpload(status, { "upload-length": "5" })
    yield* patch(created.url, 0, new Uint8Array(5))
    const done = yield* Assemblies.get(status.assembly_id)
    assert.strictEqual(done.ok, "ASSEMBLY_COMPLETED")
    const named = JSON.stringify([status, done, created.url]).match(/https?:\/\/[^/"]+/g) ?? []
    assert.deepStrictEqual(new Set(named), new Set([publicUrl]))
    assert.isAbove(named.length, 8)
  }).pipe(Effect.provide(layerEmulator({ publicUrl })))
})

live.each([
  [{ publicUrl: "dev.example.com" }, "publicUrl"],
  [{ publicUrl: "https://dev.example.com/assembly" }, "publicUrl"],
  [{ publicUrl: "ftp://dev.example.com" }, "publicUrl"],
  [{ publicUrl: "https://user@dev.example.com" }, "publicUrl"],
  [{ allowedHosts: ["https://dev.example.com"] }, "allowedHosts"],
  [{ allowedHosts: ["dev.example.com:80"] }, "allowedHosts"],
  [{ allowedHosts: ["*.example.com"] }, "allowedHosts"],
  [{ allowedHosts: [""] }, "allowedHosts"]
] as const)("does not start with %j", function* ([options, option]) {
  const error = yield* Effect.flip(Effect.void.pipe(Effect.provide(Emulator.layer(options))))
  assert.deepInclude(error, { _tag: "InvalidRequest" })
  assert.match(error.message, new RegExp(`^Emulator.layer: ${option}(\\.0)?: Expected [^;]*$`))
})
