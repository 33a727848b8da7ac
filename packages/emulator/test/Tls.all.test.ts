/** Tests the emulator over TLS. It accepts and refuses the same requests over HTTP/2 and HTTP/1.1. */
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { Emulator, Faults } from "@assembly-effect/emulator"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { constants } from "node:http2"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { createHash } from "node:crypto"
import * as Secure from "./secure.ts"
import { begin, json, layer as layerEmulator, patch, statusOf } from "./support.ts"
import { assert, describe, it as test, layer } from "@assembly-effect/testkit/flow"

/** An emulator over TLS, and a client of HTTP/2. */
const layerOver = (options: Emulator.Options = {}) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, ({ baseUrl, certificate, credentials }) =>
      AssemblyClient.layer({ baseUrl }).pipe(
        Layer.provide(Authenticator.layerSigned()),
        Layer.provide(Credentials.layer(credentials)),
        Layer.provideMerge(
          NodeHttpClient.layerUndiciNoDispatcher.pipe(
            Layer.provide(NodeHttpClient.layerDispatcherOptions({ allowH2: true, connect: { ca: certificate ?? "" } }))
          )
        )
      )
    )
  ).pipe(Layer.provideMerge(Emulator.layer({ tls: "self-signed", ...options })))

const noAssembly = "/assemblies/00000000000000000000000000000000"

layer(layerOver())("An emulator over TLS and HTTP/2", (it) => {
  it.effect("has https URLs, and takes an upload", function* () {
    const { baseUrl, localUrl } = yield* Emulator.Emulator
    assert.match(baseUrl, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.strictEqual(localUrl, baseUrl)
    const bytes = new Uint8Array(3_000_000).map((_, index) => index * 7)
    const { assembly, url } = yield* begin({ "upload-length": String(bytes.length) })
    assert.isTrue(assembly.tus_url?.startsWith(`${baseUrl}/`) && url.startsWith(`${baseUrl}/`))
    assert.strictEqual((yield* patch(url, 0, bytes.subarray(0, 1_000_001))).status, 204)
    const whole = yield* patch(url, 1_000_001, bytes.subarray(1_000_001))
    assert.strictEqual(whole.headers["upload-offset"], String(bytes.length))
    const { uploads } = yield* statusOf(assembly)
    assert.strictEqual(uploads?.[0]?.md5hash, createHash("md5").update(bytes).digest("hex"))
  })

  it.effect.each([
    [noAssembly, { ":authority": "evil.example" }, { error: "HOST_NOT_ALLOWED", http_code: 421 }],
    [noAssembly, { ":authority": "app.localhost:1" }, { error: "ASSEMBLY_NOT_FOUND" }],
    ["/nowhere", { expect: "x" }, { error: "SERVER_417", message: "The expectation is not supported." }]
  ] as const)("answers a request for %s with %j: %j", function* ([path, headers, expected]) {
    assert.deepInclude<object>(json(yield* Secure.overHttp2(path, { headers })), expected)
  })

  it.effect.each(["LoseAnswer", "CutAnswer"] as const)("injects faults: %s", function* (fault) {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    yield* (yield* Faults.Faults).inject(Faults.Fault[fault]({ method: "GET", afterBytes: 10 }))
    // The client repeats the request.
    assert.strictEqual((yield* statusOf(assembly)).assembly_id, assembly.assembly_id)
  })
})

layer(layerOver({ limits: { headers: 2000 } }))("HTTP/2", (it) => {
  it.effect("with a host beside its authority is for the authority", function* () {
    const answer = yield* Secure.overHttp2(noAssembly, { headers: { ":authority": "evil.example", host: "localhost" } })
    assert.strictEqual(answer.status, 421)
  })

  it.effect("with the path of another origin is refused", function* () {
    const { code, status } = yield* Secure.overHttp2(`https://evil.example${noAssembly}`)
    assert.deepStrictEqual([code, status], [constants.NGHTTP2_PROTOCOL_ERROR, undefined])
  })

  it.effect("that asks for a tunnel is refused", function* () {
    const opened = yield* Secure.session
    const stream = opened.request({ ":method": "CONNECT", ":authority": "127.0.0.1:22" })
    stream.end()
    assert.strictEqual((yield* Secure.ended(stream)).status, 405)
  })

  it.effect("with too many headers, or a path that is too long, is told so", function* () {
    for (const [path, headers] of [
      ["/", { x: "x".repeat(2000) }],
      [`/${"x".repeat(2000)}`, {}],
      ["/", Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`name-of-a-header-${index}`, "value"]))]
    ] as const) {
      const answer = yield* Secure.overHttp2(path, { headers })
      assert.deepStrictEqual(json(answer), {
        error: "SERVER_431",
        http_code: 431,
        message: "The headers are too large."
      })
    }
    assert.strictEqual((yield* Secure.overHttp2("/", { headers: { x: "x".repeat(1700) } })).status, 404)
  })

  it.effect("with a flood of headers ends its request, and no other one", function* () {
    const opened = yield* Secure.session
    for (const headers of [
      { x: "x".repeat(9000) },
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`h${index}`, ""]))
    ]) {
      const flood = opened.request({ ":path": "/", ...headers })
      const { code, status } = yield* Secure.ended(flood)
      assert.isUndefined(status)
      assert.strictEqual(code, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }
    assert.strictEqual((yield* Secure.ended(opened.request({ ":path": "/" }))).status, 404)
  })

  it.effect("has at most 100 requests under way on one connection", function* () {
    const opened = yield* Secure.session
    assert.strictEqual(opened.remoteSettings.maxConcurrentStreams, 100)
  })

  it.effect("that is no HTTP/2 after the handshake is closed, and others are answered", function* () {
    const socket = yield* Secure.secured("h2")
    socket.write("GET / HTTP/1.1\r\n\r\n")
    yield* Secure.closed(socket)
    assert.strictEqual((yield* Secure.overHttp2("/")).status, 404)
  })
})

describe("A connection over TLS", () => {
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
  /** An empty SETTINGS frame. */
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])

  layer(layerOver({ limits: { headersTime: "200 millis" } }))((it) => {
    it.effect("whose handshake does not end is closed", function* () {
      const { localUrl } = yield* Emulator.Emulator
      yield* Loopback.exchange(Number(new URL(localUrl).port), "")
    })
    it.effect("whose headers trickle in is closed, in HTTP/2", function* () {
      const socket = yield* Secure.secured("h2")
      socket.write(preface)
      socket.write(settings)
      // A HEADERS frame of 1000 bytes for stream 1, without its end.
      socket.write(Buffer.from([0, 0x03, 0xe8, 1, 1, 0, 0, 0, 1]))
      const trickle = setInterval(() => socket.write(Buffer.from([0x82])), 10)
      yield* Secure.closed(socket).pipe(Effect.ensuring(Effect.sync(() => clearInterval(trickle))))
    })

    it.effect("that begins no request is closed, in HTTP/2", function* () {
      const opened = yield* Secure.session
      yield* Effect.callback<void>((resume) => void opened.once("close", () => resume(Effect.void)))
    })
  })

  layer(layerOver({ limits: { idleTime: "300 millis" } }))((it) => {
    it.effect("that waits for nothing is closed, in HTTP/2", function* () {
      const opened = yield* Secure.session
      assert.strictEqual((yield* Secure.ended(opened.request({ ":path": "/" }))).status, 404)
      yield* Effect.callback<void>((resume) => void opened.once("close", () => resume(Effect.void)))
    })

    it.effect("whose upload pauses ends the upload in HTTP/2, and what it brought stays", function* () {
      const path = new URL((yield* begin({ "upload-length": "10" })).url).pathname
      const tus = { "tus-resumable": "1.0.0" }
      const opened = yield* Secure.session
      const offset = { "upload-offset": "0", "content-type": "application/offset+octet-stream" }
      const stream = opened.request({ ":path": path, ":method": "PATCH", ...tus, ...offset })
      stream.write("12345")
      const { code, status } = yield* Secure.ended(stream)
      assert.isUndefined(status)
      assert.strictEqual(code, constants.NGHTTP2_CANCEL)
      const found = yield* Secure.overHttp2(path, { method: "HEAD", headers: tus })
      assert.strictEqual(found.headers["upload-offset"], "5")
    })

    it.effect.each([
      ["a tunnel", { ":method": "CONNECT", ":authority": "127.0.0.1:22" }],
      ["an expectation", { ":path": "/", ":method": "POST", expect: "x" }],
      ["nothing that is there", { ":path": "/nowhere", ":method": "POST" }]
    ] as const)("that asks for %s and never ends its request is closed, in HTTP/2", function* ([, headers]) {
      const opened = yield* Secure.session
      const stream = opened.request(headers, { endStream: false })
      const { status = 0 } = yield* Secure.ended(stream)
      assert.isAtLeast(status, 400)
    })

    it.effect("keeps an answer open whose events are far apart", function* () {
      const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const opened = yield* Secure.session
      const stream = opened.request({ ":path": `/assemblies/${assembly.assembly_id}/updates` })
      const following = yield* Effect.forkChild(Secure.ended(stream))
      // The emulator closes a form that pauses on the same connection. At that time, `idleTime` has passed.
      const type = { "content-type": "application/x-www-form-urlencoded" }
      const form = opened.request({ ":path": "/assemblies", ":method": "POST", ...type })
      form.write("params=")
      assert.isUndefined((yield* Secure.ended(form)).status)
      assert.isUndefined(following.pollUnsafe())
      yield* Assemblies.cancel(assembly.assembly_id)
      const { status, text } = yield* Fiber.join(following)
      assert.strictEqual(status, 200)
      assert.include(text, "assembly_finished")
    })
  })
})

describe("The certificate of an emulator", () => {
  const start = (tls: Emulator.Options["tls"]) => Layer.build(Emulator.layer({ tls }))

  test.live("can be one's own", function* () {
    const { generate } = yield* Effect.promise(() => import("selfsigned"))
    const own = [{ name: "commonName", value: "localhost" }]
    const made = yield* Effect.promise(() => generate(own, { keyType: "ec" }))
    const shown = Effect.map(Secure.secured("h2"), (socket) => socket.getPeerX509Certificate()?.toString().trim())
    const layerOwn = Emulator.layer({ tls: { cert: made.cert, key: Redacted.make(made.private) } })
    const expected = made.cert.replaceAll("\r", "").trim()
    assert.strictEqual(yield* Effect.provide(Effect.scoped(shown), layerOwn), expected)
    const other = yield* Effect.promise(() => generate([], { keyType: "ec" }))
    const error = yield* Effect.flip(start({ cert: made.cert, key: Redacted.make(other.private) }))
    const rule = "Expected a certificate and its private key, without a passphrase, both in PEM"
    assert.strictEqual(error.message, `Emulator.layer: tls: ${rule}`)
  })

  test.live("that is none stops the start, and the error does not tell the key", function* () {
    const error = yield* Effect.flip(start({ cert: "text", key: Redacted.make("a private text") }))
    assert.deepInclude(error, { _tag: "InvalidRequest" })
    assert.notInclude(JSON.stringify(error) + error.message, "private text")
  })

  test.live("is none on plain HTTP", layerEmulator(), function* () {
    assert.isUndefined((yield* Emulator.Emulator).certificate)
  })
})
