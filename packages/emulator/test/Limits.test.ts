/** Tests the limits that protect other clients: forms, nesting, regular expressions, Steps, files and connections. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Limits from "@assembly-effect/emulator/Limits"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { assert, describe, it as test } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
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

layer(layerEmulator({ limits: small }))("A form", (it) => {
  it.effect("that says its size is refused before it is read", function* () {
    refused(yield* post("/assemblies", { params: "x".repeat(4001) }), 413, "SERVER_413", tooLong)
    refused(
      yield* post("/token", { grant_type: "x".repeat(4001) }),
      401,
      "SERVER_401",
      "The request has no Basic credentials."
    )
  })
  it.effect("that does not say its size is read no further than it may go", function* () {
    const endless = Stream.forever(Stream.make(new Uint8Array(1000).fill(0x61)))
    const request = HttpClientRequest.post("/assemblies").pipe(
      HttpClientRequest.bodyStream(endless, { contentType: "application/x-www-form-urlencoded" })
    )
    assert.isTrue(yield* answeredOrCut(send(request), (answer) => refused(answer, 413, "SERVER_413", tooLong)))
  })

  it.effect("of many parts is bounded by one of its fields, by all together and by their number", function* () {
    const form = (fields: ReadonlyArray<string>) => {
      const body = new FormData()
      for (const [index, value] of fields.entries()) body.append(`field${index}`, value)
      return send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyFormData(body)))
    }
    refused(yield* form(["x".repeat(4001)]), 413, "SERVER_413", tooLong)
    refused(yield* form(["x".repeat(2000), "x".repeat(2000)]), 413, "SERVER_413", tooLong)
    refused(yield* form(Array.from({ length: 11 }, () => "")), 413, "SERVER_413", "A form has at most 10 fields.")
  })

  it.effect("has at most so many fields in a body and in a query", function* () {
    const fields = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`f${index}`, ""]))
    refused(yield* post("/assemblies", fields), 413, "SERVER_413", "A form has at most 10 fields.")
    const list = HttpClientRequest.get("/assemblies").pipe(HttpClientRequest.setUrlParams(fields))
    refused(yield* send(list), 413, "SERVER_413", "A form has at most 10 fields.")
  })

  /** Signed fields, and a field `pad`, so that all names and values together have `bytes` bytes. */
  const filled = (bytes: number) =>
    Effect.map(signed({}), (fields) => {
      const used = Object.entries(fields).flat().join("").length + "pad".length
      // `é` has two bytes, so the number of characters differs from the number of bytes.
      return { ...fields, pad: "é".repeat((bytes - used) >> 1) + "x".repeat((bytes - used) & 1) }
    })
  const multipart = (fields: Readonly<Record<string, string>>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyFormData(body)))
  }

  it.effect("of exactly the limits is read, however its characters are counted", function* () {
    assert.strictEqual((yield* multipart(yield* filled(4000))).status, 200)
    refused(yield* multipart(yield* filled(4001)), 413, "SERVER_413", tooLong)
    const eight = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`f${index}`, ""]))
    assert.strictEqual((yield* multipart({ ...(yield* signed({})), ...eight })).status, 200)
    assert.strictEqual((yield* post("/assemblies", { ...(yield* signed({})), ...eight })).status, 200)
    const urlEncoded = (bytes: number) =>
      Effect.flatMap(signed({}), (fields) =>
        send(
          HttpClientRequest.post("/assemblies").pipe(
            HttpClientRequest.bodyText(
              `${new URLSearchParams(fields)}&pad=`.padEnd(bytes, "x"),
              "application/x-www-form-urlencoded"
            )
          )
        )
      )
    refused(yield* urlEncoded(4001), 413, "SERVER_413", tooLong)
    assert.strictEqual((yield* urlEncoded(4000)).status, 200)
  })

  const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'
  it.effect.each([
    ["field", part, "x".repeat(1000), tooLong],
    ["row of empty parts", "", `${part}\r\n`, "A form has at most 10 fields."]
  ] as const)("with an endless %s is cut", function* ([, first, rest, message]) {
    let pieces = 0
    const body = Stream.concat(Stream.make(first), Stream.forever(Stream.sync(() => (pieces++, rest)))).pipe(
      Stream.encodeText
    )
    const request = HttpClientRequest.post("/assemblies").pipe(
      HttpClientRequest.bodyStream(body, { contentType: "multipart/form-data; boundary=b" })
    )
    assert.isTrue(yield* answeredOrCut(send(request), (answer) => refused(answer, 413, "SERVER_413", message)))
    assert.isAbove(pieces, 0)
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
  const doubling = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `s${index}`,
        { robot: "/upload/handle", ...(index === 0 ? {} : { use: [`s${index - 1}`, `s${index - 1}`] }) }
      ])
    )

  it.effect("whose Steps double their files fails where they are too many", function* () {
    // 1 + 2 + 4 files are within the limit; 8 more files exceed the limit.
    const status = yield* uploadOne({ steps: doubling(4) }, new Uint8Array(1))
    assert.strictEqual(status.error, "MAX_NUMBER_OF_FILES_EXCEEDED")
    assert.strictEqual(status.message, "The Assembly has more files than the emulator allows.")
    assert.strictEqual((yield* uploadOne({ steps: doubling(3) }, new Uint8Array(1))).ok, "ASSEMBLY_COMPLETED")
    // These Steps make exactly 8 files, or use a Step exactly 4 times.
    const robot = "/upload/handle"
    for (const steps of [
      { ...doubling(3), more: { robot } },
      { a: { robot }, b: { robot, use: ["a", "a", "a", "a"] } }
    ]) {
      assert.strictEqual((yield* uploadOne({ steps }, new Uint8Array(1))).ok, "ASSEMBLY_COMPLETED")
    }
  })

  it.effect("has at most so many Steps, and each uses at most so many", function* () {
    refused(yield* create({ steps: doubling(5) }), 400, "ASSEMBLY_INVALID_STEPS", "An Assembly has at most 4 Steps.")
    const use = ["a", "a", "a", "a", "a"]
    const robot = "/upload/handle"
    for (const names of [use, { steps: use }]) {
      const answer = yield* create({ steps: { a: { robot }, b: { robot, use: names } } })
      assert.deepInclude(json(answer), {
        error: "ASSEMBLY_STEP_INVALID_USE",
        message: "The Step b uses more than 4 other Steps."
      })
    }
  })

  it.effect.each(["constructor", "toString", "__proto__"])("knows no Step %s that it does not have", function* (use) {
    const answer = yield* create({ steps: { a: { robot: "/upload/handle", use } } })
    assert.deepInclude(json(answer), {
      error: "ASSEMBLY_STEP_UNKNOWN_USE",
      message: `The Step a uses ${use}, which is not a Step.`
    })
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

  it.effect("has URLs that a list can tell", function* () {
    const url = `http://${"a".repeat(2042)}`
    for (const name of ["notify_url", "redirect_url"]) {
      const answer = yield* create({ [name]: url })
      assert.deepInclude(json(answer), { error: "INVALID_FORM_DATA", http_code: 400 })
    }
    assert.strictEqual((yield* create({ redirect_url: url.slice(1) })).status, 200)
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
    const body = new FormData()
    for (const [name, value] of Object.entries(yield* signed({}))) body.append(name, value)
    body.append("__proto__", "kept")
    const answer = yield* send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyFormData(body)))
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
