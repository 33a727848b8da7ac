/** Tests the limits that protect other clients: forms, nesting, regular expressions, Steps, files and connections. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import * as Limits from "@assembly-effect/emulator/Limits"
import { assert, describe, it as test } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { connect } from "node:net"
import * as Keys from "./keys.ts"
import { signedForm } from "./notified.ts"
import { call, requestOf, signedFields } from "./signedCalls.ts"
import { begin, createUpload, head, json, layer as layerEmulator, send, statusOf, uploadOne } from "./support.ts"
import { layer } from "@assembly-effect/testkit/flow"

test("a limit that is undefined has its default", () => {
  assert.deepStrictEqual(
    Schema.decodeSync(Limits.Settings)({ headers: undefined, idleTime: undefined }),
    Limits.defaults
  )
})

const signed = (params: object, auth: object = {}) => signedFields(params, { auth })

const post = (path: string, fields: Readonly<Record<string, string>>) => send(requestOf("POST", path, fields))

const create = (params: object | string) => call("POST", "/assemblies", params)

type Answer = Effect.Success<ReturnType<typeof send>>

const refused = (answer: Answer, status: number, error: string, message: string) =>
  assert.strictEqual(Keys.refused(answer, status, error), message)

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

const tooLong = "The fields of a form have at most 4000 bytes together."
const small = { formBytes: 4000, formFields: 10, files: 2, steps: 4, results: 8 }

const tooMany = "A form has at most 10 fields."

/** So many empty fields. */
const empty = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, ""]))

const multipart = (fields: Readonly<Record<string, string>>) =>
  send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyFormDataRecord(fields)))

/** A body that never ends. */
const endless = (contentType: string, first: string, rest: string) =>
  send(
    HttpClientRequest.post("/assemblies").pipe(
      HttpClientRequest.bodyStream(
        Stream.concat(Stream.make(first), Stream.forever(Stream.make(rest))).pipe(Stream.encodeText),
        { contentType }
      )
    )
  )

/** Signed fields, and a field `pad`, so that all names and values together have `bytes` bytes. */
const filled = (bytes: number) =>
  Effect.map(signed({}), (fields) => {
    const used = Object.entries(fields).flat().join("").length + "pad".length
    // `é` has two bytes, so the number of characters differs from the number of bytes.
    return { ...fields, pad: "é".repeat((bytes - used) >> 1) + "x".repeat((bytes - used) & 1) }
  })

/** A signed form whose body has `bytes` bytes. */
const urlEncoded = (bytes: number) =>
  Effect.flatMap(signed({}), (fields) => {
    const body = `${new URLSearchParams(fields)}&pad=`.padEnd(bytes, "x")
    const request = HttpClientRequest.post("/assemblies")
    return send(HttpClientRequest.bodyText(request, body, "application/x-www-form-urlencoded"))
  })

const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'
const inQuery = HttpClientRequest.get("/assemblies").pipe(HttpClientRequest.setUrlParams(empty(11)))

layer(layerEmulator({ limits: small }))("A form", (it) => {
  it.effect.each([
    ["a longer field", post("/assemblies", { params: "x".repeat(4001) }), tooLong],
    ["a longer part", multipart({ a: "x".repeat(4001) }), tooLong],
    ["parts that are longer together", multipart({ a: "x".repeat(2000), b: "x".repeat(2000) }), tooLong],
    ["4001 bytes in parts", Effect.flatMap(filled(4001), multipart), tooLong],
    ["4001 bytes", urlEncoded(4001), tooLong],
    ["11 fields", post("/assemblies", empty(11)), tooMany],
    ["11 parts", multipart(empty(11)), tooMany],
    ["11 fields in a query", send(inQuery), tooMany]
  ] as const)("with %s is refused", function* ([, answer, message]) {
    refused(yield* answer, 413, "SERVER_413", message)
  })

  it.effect.each([
    ["4000 bytes in parts", Effect.flatMap(filled(4000), multipart)],
    ["4000 bytes", urlEncoded(4000)],
    ["10 parts", Effect.flatMap(signed({}), (fields) => multipart({ ...fields, ...empty(8) }))],
    ["10 fields", Effect.flatMap(signed({}), (fields) => post("/assemblies", { ...fields, ...empty(8) }))]
  ] as const)("with %s is read", function* ([, answer]) {
    assert.strictEqual((yield* answer).status, 200)
  })

  it.effect.each([
    ["body", endless("application/x-www-form-urlencoded", "", "a".repeat(1000)), tooLong],
    ["part", endless("multipart/form-data; boundary=b", part, "x".repeat(1000)), tooLong],
    ["row of empty parts", endless("multipart/form-data; boundary=b", "", `${part}\r\n`), tooMany]
  ] as const)("with an endless %s is cut", function* ([, answer, message]) {
    // The server may respond before the client has sent all, which is a closed connection for the client.
    const result = yield* Effect.result(answer)
    if (Result.isSuccess(result)) refused(result.success, 413, "SERVER_413", message)
  })

  it.effect("for a token is not read if it has no Basic credentials", function* () {
    const answer = yield* post("/token", { grant_type: "x".repeat(4001) })
    refused(answer, 401, "SERVER_401", "The request has no Basic credentials.")
  })

  it.effect("that is nested deep is not read, whoever sends it", function* () {
    const expected = "params: Expected at most 100 levels"
    refused(yield* create(`{"fields":{"a":${nested(99)}}}`), 400, "INVALID_FORM_DATA", expected)
    refused(yield* post("/assemblies", { params: nested(600) }), 400, "INVALID_FORM_DATA", expected)
    assert.strictEqual((yield* create(`{"fields":{"a":${nested(98)}}}`)).status, 200)
    // Brackets inside a string do not count.
    assert.strictEqual((yield* create({ fields: { a: "[".repeat(500), b: `"${"[".repeat(500)}` } })).status, 200)
  })
  it.effect("with more files than an Assembly has fails the Assembly", function* () {
    const answer = yield* signedForm(
      "/assemblies",
      {},
      ["a", "b", "c"].map((name) => new File([name], name))
    )
    assert.deepInclude(json(answer), { error: "MAX_NUMBER_OF_FILES_EXCEEDED" })
  })
})

layer(layerEmulator({ limits: small }))("An Assembly", (it) => {
  const robot = "/upload/handle"
  const longUrl = `http://${"a".repeat(2042)}`
  const doubling = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `s${index}`,
        { robot, ...(index === 0 ? {} : { use: [`s${index - 1}`, `s${index - 1}`] }) }
      ])
    )

  it.effect("whose Steps double their files fails where they are too many", function* () {
    // 1 + 2 + 4 files are within the limit; 8 more files exceed the limit.
    const status = yield* uploadOne({ steps: doubling(4) }, new Uint8Array(1))
    const message = "The Assembly has more files than the emulator allows."
    assert.deepInclude(status, { error: "MAX_NUMBER_OF_FILES_EXCEEDED", message })
    // The last two make exactly 8 files, or use a Step exactly 4 times.
    for (const steps of [
      doubling(3),
      { ...doubling(3), more: { robot } },
      { a: { robot }, b: { robot, use: ["a", "a", "a", "a"] } }
    ]) {
      assert.strictEqual((yield* uploadOne({ steps }, new Uint8Array(1))).ok, "ASSEMBLY_COMPLETED")
    }
  })

  const uses = (names: unknown) => ({ steps: { a: { robot }, b: { robot, use: names } } })
  const tooManyUses = "The Step b uses more than 4 other Steps."
  it.effect.each([
    ["5 Steps", { steps: doubling(5) }, "ASSEMBLY_INVALID_STEPS", "An Assembly has at most 4 Steps."],
    ["a Step that uses 5", uses(Array(5).fill("a")), "ASSEMBLY_STEP_INVALID_USE", tooManyUses],
    ["a Step with 5 in steps", uses({ steps: Array(5).fill("a") }), "ASSEMBLY_STEP_INVALID_USE", tooManyUses],
    ...["constructor", "toString", "__proto__"].map(
      (use) =>
        [
          `the use of ${use}`,
          uses(use),
          "ASSEMBLY_STEP_UNKNOWN_USE",
          `The Step b uses ${use}, which is not a Step.`
        ] as const
    ),
    ["a notify_url that no list can tell", { notify_url: longUrl }, "INVALID_FORM_DATA", undefined],
    ["a redirect_url that no list can tell", { redirect_url: longUrl }, "INVALID_FORM_DATA", undefined]
  ] as const)("with %s is refused", function* ([, params, error, message]) {
    const { said } = yield* create(params)
    assert.strictEqual(said["error"], error)
    if (message !== undefined) assert.strictEqual(said["message"], message)
  })

  it.effect("takes no final concatenation beyond its uploads", function* () {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 3 })
    const upload = (headers: Readonly<Record<string, string>>) => createUpload(assembly, headers)
    const created = yield* upload({ "upload-length": "0", "upload-concat": "partial" })
    const final = upload({ "upload-concat": `final;${created.url}` })
    // A partial upload counts as an upload.
    assert.deepStrictEqual([(yield* final).status, (yield* final).status], [201, 413])
  })

  it.effect("takes so many uploads and no more", function* () {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 3 })
    const upload = createUpload(assembly, { "upload-length": "1" })
    assert.deepStrictEqual([(yield* upload).status, (yield* upload).status], [201, 201])
    const third = yield* upload
    assert.deepStrictEqual(
      { status: third.status, text: third.text },
      { status: 413, text: '{"error":"ERR_MAX_NUMBER_OF_FILES_EXCEEDED: the Assembly accepts no more uploads"}' }
    )
  })

  it.effect("may have a URL of 2048 characters", function* () {
    assert.strictEqual((yield* create({ redirect_url: longUrl.slice(0, -1) })).status, 200)
  })

  it.effect("keeps fields that are called like what every object has", function* () {
    const template = { name: "prototypes", template: { fields: { a: 1 } } }
    const { id } = (yield* call("POST", "/templates", template)).said
    const text = `{"template_id":"${id}","fields":{"constructor":null,"toString":2,"__proto__":{"b":3}}}`
    const fields = yield* signedFields(text)
    const answer = yield* send(
      HttpClientRequest.post("/assemblies").pipe(
        HttpClientRequest.bodyUrlParams([...Object.entries(fields), ["valueOf", "4"], ["hasOwnProperty", "5"]])
      )
    )
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(
      JSON.stringify(json(answer)["fields"]),
      '{"a":1,"constructor":null,"toString":2,"__proto__":{"b":3},"valueOf":"4","hasOwnProperty":"5"}'
    )
  })

  it.effect("keeps a field of a multipart form that is called __proto__", function* () {
    const answer = yield* multipart({ ...(yield* signed({})), ["__proto__"]: "kept" })
    assert.strictEqual(JSON.stringify(json(answer)["fields"]), '{"__proto__":"kept"}')
  })

  it.effect("is not found by more keywords than a list looks for", function* () {
    const fromdate = "2020-01-01 00:00:00"
    const list = (keywords: ReadonlyArray<string>) => call("GET", "/assemblies", { fromdate, keywords })
    const many = Array.from({ length: 21 }, () => "a")
    for (const valid of [many.slice(1), ["a".repeat(256)]]) assert.strictEqual((yield* list(valid)).status, 200)
    for (const [keywords, rule] of [
      [many, "at most 20 keywords"],
      [["a".repeat(257)], "at most 256 characters each"]
    ] as const) {
      refused(yield* list(keywords), 400, "ASSEMBLY_LIST_ERROR", `keywords: Expected ${rule}`)
    }
    assert.deepInclude((yield* call("GET", "/templates", { keywords: many })).said, { error: "TEMPLATE_LIST_ERROR" })
  })
})

layer(layerEmulator({ limits: { fileBytes: 4, resultBytes: 6, resultText: 2500 } }))(
  "The files of an Assembly",
  (it) => {
    const robot = "/upload/handle"

    it.effect("are each no larger than the emulator allows", function* () {
      const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const tooLarge = yield* createUpload(assembly, { "upload-length": "5" })
      assert.strictEqual(tooLarge.status, 413)
      assert.include(tooLarge.text, "auth.max_size or the limit fileBytes")
      const message = "A file is larger than auth.max_size or the limit fileBytes."
      assert.deepInclude(yield* statusOf(assembly), { error: "MAX_SIZE_EXCEEDED", message })
    })

    it.effect("are no larger than that where auth.max_size is", function* () {
      const assembly = yield* Assemblies.create({ auth: { maxSize: 100 }, numExpectedUploadFiles: 1 })
      assert.strictEqual((yield* createUpload(assembly, { "upload-length": "5" })).status, 413)
    })

    it.effect("have no more bytes together than the emulator allows", function* () {
      const two = { a: { robot }, b: { robot } }
      assert.strictEqual((yield* uploadOne({ steps: two }, new Uint8Array(3))).ok, "ASSEMBLY_COMPLETED")
      const status = yield* uploadOne({ steps: two }, new Uint8Array(4))
      const message = "The results of the Steps exceed 6 bytes."
      assert.deepInclude(status, { error: "ASSEMBLY_MEMORY_LIMIT_EXCEEDED", message })
    })

    it.effect("are described by no more than a Status tells", function* () {
      const steps = { a: { robot, use: [":original"] }, b: { robot }, c: { robot }, d: { robot } }
      const status = yield* uploadOne({ steps }, new Uint8Array(0))
      const message = "The results are too large for a Status."
      assert.deepInclude(status, { error: "ASSEMBLY_MEMORY_LIMIT_EXCEEDED", message })
    })
  }
)

layer(layerEmulator())("auth.referer", (it) => {
  const list = Effect.fnUntraced(function* (pattern: string, referer: string) {
    const fields = yield* signed({ fromdate: "2020-01-01 00:00:00" }, { referer: pattern })
    return yield* send(HttpClientRequest.setHeader(requestOf("GET", "/assemblies", fields), "referer", referer))
  })
  it.effect("is matched in linear time, and not matched where that would take long", function* () {
    for (const [pattern, referer] of [
      ...["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*b$"].map((slow) => [slow, `${"a".repeat(2000)}!`] as const),
      ["x{500}x{501}", "x".repeat(1100)],
      // These patterns have few characters and few repetitions, but compile to many instructions.
      ["(?:a?b?c?d?){900}", "a"],
      ["((((a{10}){10}){10}b)|c){9}", "a"],
      ["a".repeat(257), "a".repeat(300)],
      ["a", "a".repeat(2049)],
      ["(a)\\1", "aa"],
      ["a(?=b)", "ab"]
    ] as const) {
      const answer = yield* list(pattern, referer)
      refused(answer, 400, "REFERER_MISMATCH", "The referer does not match auth.referer.")
    }
  })

  it.effect("is a regular expression as JavaScript writes it", function* () {
    const referer = "https://shop.example.com:8080/cart?id=1"
    for (const pattern of [
      "^https?:\\/\\/(?:[\\w-]+\\.)*example\\.com(?::\\d+)?\\/",
      "(?<host>example)\\.com",
      "\\u0065xample",
      "^https://.{4}\\.example",
      "cart\\?id=\\d{1,3}$"
    ]) {
      assert.strictEqual((yield* list(pattern, referer)).status, 200, pattern)
    }
  })
})

/** Sends the head of a request and the beginning of its body, and reads until the server closes the connection. */
const raw = Effect.fnUntraced(function* (...lines: ReadonlyArray<string>) {
  const { host, port } = new URL((yield* Emulator.Emulator).baseUrl)
  const text = lines.length === 1 ? lines[0] : [lines[0], `host: ${host}`, ...lines.slice(1)].join("\r\n")
  return yield* Loopback.exchange(Number(port), String(text))
})

const form = "content-type: application/x-www-form-urlencoded"

const says = (text: string, status: number, message: string) => {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `, "u"))
  assert.deepStrictEqual(JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)), {
    error: `SERVER_${status}`,
    http_code: status,
    message
  })
}

describe("A connection", () => {
  const limits = { headers: 2000, headersTime: "200 millis", formTime: "100 millis" } as const

  layer(layerEmulator({ limits }))((it) => {
    it.effect("that brings no HTTP gets an error object and is closed", function* () {
      says(yield* raw("no HTTP\r\n\r\n"), 400, "The request is not valid HTTP.")
      says(yield* raw("GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n"), 400, "The request is not valid HTTP.")
    })

    it.effect("that brings too many headers, or a path that is too long, is told so", function* () {
      says(yield* raw(`GET / HTTP/1.1\r\nx: ${"x".repeat(2000)}\r\n\r\n`), 431, "The headers are too large.")
      says(yield* raw(`GET /${"x".repeat(2000)} HTTP/1.1\r\n\r\n`), 431, "The headers are too large.")
    })

    it.effect("that asks for something else than an answer gets an answer all the same", function* () {
      const ask = (path: string, header: string) =>
        raw(`GET ${path} HTTP/1.1`, "connection: close", `${header}\r\n\r\n`)
      const notFound = "There is no such operation."
      for (const path of ["/%", "/assemblies/%E0%A4%A", "/templates/%FF?params=%"]) {
        says(yield* ask(path, "x: y"), 404, notFound)
      }
      says(yield* ask("/nowhere", "connection: upgrade\r\nupgrade: h2c"), 404, notFound)
      says(yield* ask("/nowhere", "expect: x"), 417, "The expectation is not supported.")
    })

    it.effect("whose headers do not end is closed", function* () {
      says(yield* raw("GET / HTTP/1.1\r\nhost: a\r\n"), 408, "The request took too long.")
    })

    it.effect.each([
      ["application/x-www-form-urlencoded", "params="],
      ["multipart/form-data; boundary=b", '--b\r\ncontent-disposition: form-data; name="params"\r\n\r\n{']
    ] as const)("whose form does not end is answered: %s", function* ([type, body]) {
      const start = ["POST /assemblies HTTP/1.1", "connection: close", `content-type: ${type}`]
      const text = yield* raw(...start, `content-length: 100\r\n\r\n${body}`)
      assert.match(text, /^HTTP\/1\.1 408 /)
      assert.include(text, '"message":"The fields of the form took too long to arrive."')
    })
  })

  layer(layerEmulator({ limits: { idleTime: "200 millis" } }))((it) => {
    it.effect("that waits for nothing is closed", function* () {
      for (const headers of ["", "connection: upgrade\r\nupgrade: websocket\r\n"]) {
        const text = yield* raw("GET /nowhere HTTP/1.1", `${headers}\r\n`)
        assert.match(text, /^HTTP\/1\.1 404 /)
        assert.include(text, "There is no such operation.")
      }
    })

    it.effect("that asks for another protocol still brings its body", function* () {
      const body = String(new URLSearchParams(yield* signed({})))
      const start = ["POST /assemblies HTTP/1.1", "connection: upgrade", "upgrade: websocket", form]
      const text = yield* raw(...start, `content-length: ${body.length}\r\n\r\n${body}`)
      assert.match(text, /^HTTP\/1\.1 200 /)
    })

    it.effect("whose upload pauses is closed, and what it brought stays", function* () {
      const { url } = yield* begin({ "upload-length": "10" })
      const tus = ["tus-resumable: 1.0.0", "upload-offset: 0", "content-type: application/offset+octet-stream"]
      yield* raw(`PATCH ${new URL(url).pathname} HTTP/1.1`, ...tus, "content-length: 10\r\n\r\n12345")
      assert.strictEqual((yield* head(url)).headers["upload-offset"], "5")
    })
  })

  layer(layerEmulator({ limits: { connections: 1 } }))((it) => {
    it.effect("beyond the number that may be open is closed", function* () {
      const { baseUrl } = yield* Emulator.Emulator
      const first = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof connect>>((resume) => {
          const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1", () => socket.write("GET /"))
          // The server counts accepted connections only.
          socket.once("connect", () => resume(Effect.succeed(socket)))
        }),
        (socket) => Effect.sync(() => socket.destroy())
      )
      assert.strictEqual(yield* raw("GET / HTTP/1.1\r\nhost: a\r\n\r\n"), "")
      assert.isFalse(first.destroyed)
    })
  })
})
