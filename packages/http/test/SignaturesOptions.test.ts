/** What the options of `Signatures` change, and which bodies it reads. */
import { Credentials } from "@assembly-effect/auth"
import { Signatures } from "@assembly-effect/http"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Fiber, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { credentials, headOf, open, secondsUntil, send, serve, statusIn, until } from "./support.ts"

const path = "/assembly-signatures"
const type = "application/json"
const provided = Credentials.layer(credentials)

const application = Effect.fnUntraced(function* (options: Partial<Signatures.Options<string, never>> = {}) {
  const served = yield* serve(
    Signatures.layer<never, string>({
      body: Schema.String,
      policy: (note) => Effect.succeed({ params: { templateId: "a", fields: { note } }, maxSize: 1 }),
      ...options
    }).pipe(Layer.provide(provided))
  )
  /** Sends a body in these chunks. */
  const post = Effect.fnUntraced(function* (
    chunks: ReadonlyArray<Uint8Array>,
    headers: Readonly<Record<string, string>> = {}
  ) {
    const raw = yield* open(served.port)
    const own = { "content-type": type, "transfer-encoding": "chunked", connection: "close" }
    yield* raw.write(headOf(path, { ...own, ...headers }))
    for (const bytes of [...chunks, new Uint8Array(0)]) {
      yield* raw.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]))
    }
    yield* until(raw.isClosed)
    const note = /\\"note\\":\\"([^\\]*)\\"/.exec(Buffer.from(raw.received(), "latin1").toString())?.[1]
    return { status: statusIn(raw.received()), note, text: raw.received() }
  })
  return { ...served, post }
})

const json = (note: string) => Buffer.from(JSON.stringify(note))

describe("Signatures, its body", () => {
  it.effect("may be cut anywhere, even within a character", function* () {
    const { post } = yield* application()
    const bytes = json("é€😀")
    for (let at = 0; at <= bytes.length; at++) {
      const { note, status } = yield* post([bytes.subarray(0, at), bytes.subarray(at)].filter((one) => one.length > 0))
      assert.deepStrictEqual([status, note], [200, "é€😀"], `cut at ${at}`)
    }
  })

  it.effect("may not end within a character", function* () {
    const { post } = yield* application()
    for (const start of [[0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98]]) {
      const { status, text } = yield* post([Buffer.concat([json("a"), Uint8Array.from(start)])])
      assert.strictEqual(status, 400)
      assert.include(text, "The body is not UTF-8.")
    }
  })

  it.effect("has a media type in any case, with parameters", function* () {
    const { post } = yield* application()
    for (const contentType of ["Application/JSON", "application/json;charset=utf-8", "application/json ; a=b; c=d"]) {
      assert.strictEqual((yield* post([json("a")], { "content-type": contentType })).status, 200, contentType)
    }
    for (const contentType of ["application/jsonp", "text/plain;application/json", ""]) {
      assert.strictEqual((yield* post([json("a")], { "content-type": contentType })).status, 415, contentType)
    }
  })

  it.effect("is as large and as slow as the application permits", function* () {
    const served = yield* application({ maxBytes: 10, receiveTimeout: "5 seconds" })
    const { bytesRead, port, post } = served
    assert.strictEqual((yield* post([json("x".repeat(8))])).status, 200)
    assert.strictEqual((yield* post([json("x".repeat(9))])).status, 413)
    const raw = yield* open(port)
    const read = bytesRead()
    yield* raw.write(headOf(path, { "content-type": type, "content-length": "5" }) + "1")
    yield* until(() => bytesRead() > read)
    assert.isAtMost(yield* secondsUntil(raw.isClosed, served), 9)
    assert.strictEqual(statusIn(raw.received()), 408)
  })

  it.effect("shares the memory of 512 bodies with all others", function* () {
    const answer = yield* Signatures.make({
      body: Schema.String,
      maxBytes: 100,
      policy: () => Effect.succeed({ params: { templateId: "a" }, maxSize: 1 })
    }).pipe(Effect.provide(provided))
    let held = 0
    /** A request whose body has so many bytes, and does not end. */
    const requestOf = (bytes: number) => {
      let isSent = false
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (isSent) return void held++
        isSent = true
        controller.enqueue(new Uint8Array(bytes))
      }
      const init = { method: "POST", headers: { "content-type": type }, duplex: "half" }
      const body = new ReadableStream({ pull }, { highWaterMark: 0 })
      return HttpServerRequest.fromWeb(new Request("http://localhost/", { ...init, body }))
    }
    const fibers = yield* Effect.forEach(Array.from({ length: 512 }), () => Effect.forkChild(answer(requestOf(100))))
    yield* until(() => held === 512)
    const one = yield* Effect.forkChild(answer(requestOf(1)))
    yield* until(() => one.pollUnsafe() !== undefined || held === 513)
    assert.strictEqual(held, 512)
    const { status } = yield* Fiber.join(one)
    assert.strictEqual(status, 503)
    assert.isTrue(fibers.every((fiber) => fiber.pollUnsafe() === undefined))
  })
})

describe("Signatures, its options", () => {
  it.effect("name origins as browsers write them, because another spelling would permit no page", function* () {
    const defectOf = (origin: string) =>
      Effect.map(Effect.exit(application({ origins: ["https://app.example.com", origin] })), String)
    const host = "app.example.com"
    const spelt = [`${host}/`, `${host}/path`, "APP.example.com", `${host}:443`, `user@${host}`, "*.example.com"]
    for (const origin of [...spelt.map((rest) => `https://${rest}`), host, "null", "*", ""]) {
      assert.include(yield* defectOf(origin), "origins.1: Expected an origin such as https://app.example.com", origin)
    }
    for (const origin of ["http://localhost:3000", "https://xn--bcher-kva.example", "capacitor://localhost"]) {
      const { post } = yield* application({ origins: [origin] })
      assert.strictEqual((yield* post([json("a")], { origin })).status, 200, origin)
    }
  })

  it.effect("name the path of the route, and the algorithm of the signature", function* () {
    const { origin } = yield* application({ path: "/sign", algorithm: "sha256" })
    const { body } = yield* send(`${origin}/sign`, { body: json("a"), headers: { "content-type": type } })
    assert.match((body as Signatures.Signed).signature, /^sha256:[0-9a-f]{64}$/)
  })

  it.effect("name whole origins, and the host of a page may have any case", function* () {
    const { post } = yield* application({ origins: ["https://app.example.com"] })
    for (const rest of ["s://app.example.com.evil.example", "s://app.example.com:8443", "s://app.example.co"]) {
      assert.strictEqual((yield* post([json("a")], { origin: `http${rest}` })).status, 403, rest)
    }
    assert.strictEqual((yield* post([json("a")], { origin: "http://app.example.com" })).status, 403)
    assert.strictEqual((yield* post([json("a")], { origin: "https://app.example.com" })).status, 200)
    const { port } = yield* application()
    const raw = yield* open(port)
    const page = { connection: "close", origin: "https://shop.example" }
    const head = headOf(path, { "content-type": type, "content-length": "3", ...page })
    yield* raw.write(`${head.replace("host: localhost", "host: SHOP.example")}"a"`)
    yield* until(raw.isClosed)
    assert.strictEqual(statusIn(raw.received()), 200)
  })

  it.effect("let a grant change the Steps of a Template, of which it need not know all", function* () {
    const steps = { resized: { robot: "/image/resize", use: "a-step-of-the-template", width: 100 } }
    const { post } = yield* application({
      policy: () => Effect.succeed({ params: { templateId: "a", steps }, maxSize: 1 })
    })
    assert.strictEqual((yield* post([json("a")])).status, 200)
  })
})
