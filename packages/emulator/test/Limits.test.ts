/** Tests the limits that protect other clients: forms, nesting, regular expressions, Steps, files and connections. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import * as Limits from "@assembly-effect/emulator/Limits"
import { Assembly } from "@assembly-effect/schema"
import { assert, describe, it as test } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { connect } from "node:net"
import { createUpload, hmac, json, layer as layerEmulator, send, uploadOne } from "./support.ts"
import { layer } from "@assembly-effect/testkit/flow"

test("a limit that is undefined has its default", () => {
  assert.deepStrictEqual(
    Schema.decodeSync(Limits.Settings)({ headers: undefined, idleTime: undefined }),
    Limits.defaults
  )
})

let nonce = 0

/** The fields of a signed request with this text of params, in which `AUTH` stands for the auth object. */
const signText = Effect.fnUntraced(function* (text: string, auth: object = {}) {
  const { credentials } = yield* Emulator.Emulator
  const whole = { key: credentials.key, expires: "2999-01-01T00:00:00Z", nonce: `${nonce++}`, ...auth }
  const params = text.replace("AUTH", JSON.stringify(whole))
  return { params, signature: hmac(params, credentials.secret) }
})

const signed = (params: object, auth?: object) =>
  signText(JSON.stringify({ ...params, auth: "AUTH" }).replace('"AUTH"', "AUTH"), auth)

const post = (path: string, fields: Readonly<Record<string, string>>) =>
  send(HttpClientRequest.post(path).pipe(HttpClientRequest.bodyUrlParams(fields)))

const create = (params: object) => Effect.flatMap(signed(params), (fields) => post("/assemblies", fields))

type Answer = Effect.Success<ReturnType<typeof send>>

const refused = (answer: Answer, status: number, error: string, message: string) => {
  const said: Readonly<Record<string, unknown>> = { ...json(answer), status: answer.status }
  assert.deepInclude(said, { status, error, http_code: status, message })
}

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
    assert.isTrue(yield* answeredOrCut(answer, (one) => refused(one, 413, "SERVER_413", message)))
  })

  it.effect("for a token is not read if it has no Basic credentials", function* () {
    const answer = yield* post("/token", { grant_type: "x".repeat(4001) })
    refused(answer, 401, "SERVER_401", "The request has no Basic credentials.")
  })

  it.effect("that is nested deep is not read, whoever sends it", function* () {
    const params = `{"auth":AUTH,"fields":{"a":${nested(99)}}}`
    const expected = "params: Expected at most 100 levels"
    refused(yield* post("/assemblies", yield* signText(params)), 400, "INVALID_FORM_DATA", expected)
    refused(yield* post("/assemblies", { params: nested(600) }), 400, "INVALID_FORM_DATA", expected)
    const fine = yield* post("/assemblies", yield* signText(params.replace(nested(99), nested(98))))
    assert.strictEqual(fine.status, 200)
    // Brackets inside a string do not count.
    assert.strictEqual((yield* create({ fields: { a: "[".repeat(500), b: `"${"[".repeat(500)}` } })).status, 200)
  })
  it.effect("with more files than an Assembly has fails the Assembly", function* () {
    const { params, signature } = yield* signed({})
    const body = new FormData()
    body.append("params", params)
    body.append("signature", signature)
    for (const name of ["a", "b", "c"]) body.append(name, new Blob([name]), name)
    const answer = yield* send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyFormData(body)))
    assert.deepInclude(json(answer), { error: "MAX_NUMBER_OF_FILES_EXCEEDED" })
  })
})

/** Accepts a closed connection instead of a response, because the server may respond before the client has sent all. */
const answeredOrCut = <E, R>(answer: Effect.Effect<Answer, E, R>, check: (answer: Answer) => void) =>
  Effect.match(answer, {
    onFailure: () => true,
    onSuccess: (one) => {
      check(one)
      return true
    }
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
    assert.strictEqual(status.error, "MAX_NUMBER_OF_FILES_EXCEEDED")
    assert.strictEqual(status.message, "The Assembly has more files than the emulator allows.")
    assert.strictEqual((yield* uploadOne({ steps: doubling(3) }, new Uint8Array(1))).ok, "ASSEMBLY_COMPLETED")
    // These Steps make exactly 8 files, or use a Step exactly 4 times.
    for (const steps of [
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
    const said = json(yield* create(params))
    assert.strictEqual(said["error"], error)
    if (message !== undefined) assert.strictEqual(said["message"], message)
  })

  it.effect("takes no final concatenation beyond its uploads", function* () {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 3 })
    const upload = (headers: Readonly<Record<string, string>>) => createUpload(assembly, headers)
    const created = yield* upload({ "upload-length": "0", "upload-concat": "partial" })
    const final = upload({ "upload-concat": `final;${created.headers["location"]}` })
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
    const { id } = json(yield* post("/templates", yield* signed(template)))
    const text = `{"auth":AUTH,"template_id":"${id}","fields":{"constructor":null,"toString":2,"__proto__":{"b":3}}}`
    const fields = yield* signText(text)
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
    const keywords = Array.from({ length: 21 }, () => "a")
    const list = (path: string, params: object) =>
      Effect.flatMap(signed(params), (fields) =>
        send(HttpClientRequest.get(path).pipe(HttpClientRequest.setUrlParams(fields)))
      )
    const fromdate = "2020-01-01 00:00:00"
    assert.strictEqual((yield* list("/assemblies", { fromdate, keywords: keywords.slice(1) })).status, 200)
    refused(
      yield* list("/assemblies", { fromdate, keywords }),
      400,
      "ASSEMBLY_LIST_ERROR",
      "keywords: Expected at most 20 keywords"
    )
    assert.deepInclude(json(yield* list("/templates", { keywords })), { error: "TEMPLATE_LIST_ERROR" })
    assert.strictEqual((yield* list("/assemblies", { fromdate, keywords: ["a".repeat(256)] })).status, 200)
    refused(
      yield* list("/assemblies", { fromdate, keywords: ["a".repeat(257)] }),
      400,
      "ASSEMBLY_LIST_ERROR",
      "keywords: Expected at most 256 characters each"
    )
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
      const failed = yield* Assemblies.get(assembly.assembly_id)
      assert.deepInclude(failed, {
        error: "MAX_SIZE_EXCEEDED",
        message: "A file is larger than auth.max_size or the limit fileBytes."
      })
    })

    it.effect("are no larger than that where auth.max_size is", function* () {
      const created = yield* Effect.flatMap(signed({}, { max_size: 100 }), (fields) =>
        post("/assemblies", { ...fields, num_expected_upload_files: "1" })
      )
      const assembly = yield* Assemblies.get(Assembly.AssemblyId.make(String(json(created)["assembly_id"])))
      assert.strictEqual((yield* createUpload(assembly, { "upload-length": "5" })).status, 413)
    })

    it.effect("have no more bytes together than the emulator allows", function* () {
      const two = { a: { robot }, b: { robot } }
      assert.strictEqual((yield* uploadOne({ steps: two }, new Uint8Array(3))).ok, "ASSEMBLY_COMPLETED")
      const status = yield* uploadOne({ steps: two }, new Uint8Array(4))
      assert.strictEqual(status.error, "ASSEMBLY_MEMORY_LIMIT_EXCEEDED")
      assert.strictEqual(status.message, "The results of the Steps exceed 6 bytes.")
    })

    it.effect("are described by no more than a Status tells", function* () {
      const status = yield* uploadOne(
        { steps: { a: { robot, use: [":original"] }, b: { robot }, c: { robot }, d: { robot } } },
        new Uint8Array(0)
      )
      assert.strictEqual(status.error, "ASSEMBLY_MEMORY_LIMIT_EXCEEDED")
      assert.strictEqual(status.message, "The results are too large for a Status.")
    })
  }
)

layer(layerEmulator())("auth.referer", (it) => {
  const list = Effect.fnUntraced(function* (pattern: string, referer: string) {
    const fields = yield* signed({ fromdate: "2020-01-01 00:00:00" }, { referer: pattern })
    return yield* send(
      HttpClientRequest.get("/assemblies", { headers: { referer } }).pipe(HttpClientRequest.setUrlParams(fields))
    )
  })
  const mismatch = (answer: Answer) =>
    refused(answer, 400, "REFERER_MISMATCH", "The referer does not match auth.referer.")

  it.effect("is matched in linear time", function* () {
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*b$"]) {
      mismatch(yield* list(pattern, `${"a".repeat(2000)}!`))
    }
  })

  it.effect("is not matched where that would take long", function* () {
    mismatch(yield* list("x{500}x{501}", "x".repeat(1100)))
    // These patterns have few characters and few repetitions, but compile to many instructions.
    mismatch(yield* list("(?:a?b?c?d?){900}", "a"))
    mismatch(yield* list("((((a{10}){10}){10}b)|c){9}", "a"))
    mismatch(yield* list("a".repeat(257), "a".repeat(300)))
    mismatch(yield* list("a", "a".repeat(2049)))
    mismatch(yield* list("(a)\\1", "aa"))
    mismatch(yield* list("a(?=b)", "ab"))
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

/** Sends bytes and reads the answer until the server closes the connection. */
const raw = Effect.fnUntraced(function* (bytes: string) {
  const { baseUrl } = yield* Emulator.Emulator
  return yield* Loopback.exchange(Number(new URL(baseUrl).port), bytes)
})

const says = (text: string, status: number, message: string) => {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `, "u"))
  assert.deepStrictEqual(JSON.parse(text.slice(text.indexOf("\r\n\r\n"))), {
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
      const host = new URL((yield* Emulator.Emulator).baseUrl).host
      const ask = (path: string, header: string) =>
        raw(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${header}\r\n\r\n`)
      const told = (text: string) => text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)
      const notFound = { error: "SERVER_404", http_code: 404, message: "There is no such operation." }
      for (const path of ["/%", "/assemblies/%E0%A4%A", "/templates/%FF?params=%"]) {
        assert.deepStrictEqual(JSON.parse(told(yield* ask(path, "x: y"))), notFound)
      }
      assert.deepStrictEqual(JSON.parse(told(yield* ask("/nowhere", "connection: upgrade\r\nupgrade: h2c"))), notFound)
      assert.deepStrictEqual(JSON.parse(told(yield* ask("/nowhere", "expect: x"))), {
        error: "SERVER_417",
        http_code: 417,
        message: "The expectation is not supported."
      })
    })

    it.effect("whose headers do not end is closed", function* () {
      says(yield* raw("GET / HTTP/1.1\r\nhost: a\r\n"), 408, "The request took too long.")
    })

    it.effect.each([
      ["application/x-www-form-urlencoded", "params="],
      ["multipart/form-data; boundary=b", '--b\r\ncontent-disposition: form-data; name="params"\r\n\r\n{']
    ] as const)("whose form does not end is answered: %s", function* ([type, body]) {
      const { baseUrl } = yield* Emulator.Emulator
      const text = yield* raw(
        `POST /assemblies HTTP/1.1\r\nhost: ${new URL(baseUrl).host}\r\nconnection: close\r\n` +
          `content-type: ${type}\r\ncontent-length: 100\r\n\r\n${body}`
      )
      assert.match(text, /^HTTP\/1\.1 408 /)
      assert.include(text, '"message":"The fields of the form took too long to arrive."')
    })
  })

  layer(layerEmulator({ limits: { idleTime: "200 millis" } }))((it) => {
    it.effect("that waits for nothing is closed", function* () {
      const { baseUrl } = yield* Emulator.Emulator
      for (const headers of ["", "connection: upgrade\r\nupgrade: websocket\r\n"]) {
        const text = yield* raw(`GET /nowhere HTTP/1.1\r\nhost: ${new URL(baseUrl).host}\r\n${headers}\r\n`)
        assert.match(text, /^HTTP\/1\.1 404 /)
        assert.include(text, "There is no such operation.")
      }
    })

    it.effect("that asks for another protocol still brings its body", function* () {
      const { host } = new URL((yield* Emulator.Emulator).baseUrl)
      const body = String(new URLSearchParams(yield* signed({})))
      const text = yield* raw(
        `POST /assemblies HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
          `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      )
      assert.match(text, /^HTTP\/1\.1 200 /)
    })

    it.effect("whose upload pauses is closed, and what it brought stays", function* () {
      const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const { headers } = yield* createUpload(assembly, { "upload-length": "10" })
      const url = new URL(headers["location"] ?? "")
      yield* raw(
        `PATCH ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ntus-resumable: 1.0.0\r\nupload-offset: 0\r\n` +
          "content-type: application/offset+octet-stream\r\ncontent-length: 10\r\n\r\n12345"
      )
      const status = yield* send(HttpClientRequest.head(url.href, { headers: { "tus-resumable": "1.0.0" } }))
      assert.strictEqual(status.headers["upload-offset"], "5")
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
