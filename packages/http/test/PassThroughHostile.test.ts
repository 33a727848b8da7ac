/** Users whose files nobody wants. */
import { Refusal } from "@assembly-effect/http"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { after, application, before, chunked, live, newUploadId, type, watch } from "./passing.ts"
import { chunk, headOf, open, problemIn, statusIn, until } from "./support.ts"

const MiB = 1024 * 1024

/** Sends a body as it is, and waits for the answer. */
const post = Effect.fnUntraced(function* (
  port: number,
  body: string,
  headers: Readonly<Record<string, string>> = type,
  uploadId = newUploadId()
) {
  const raw = yield* open(port)
  const length = { "content-length": String(Buffer.byteLength(body)), connection: "close" }
  yield* raw.write(headOf(`/assembly-uploads/${uploadId}`, { ...length, ...headers }) + body)
  yield* until(raw.isClosed)
  return { status: statusIn(raw.received()), description: problemIn(raw) }
})

layer(live)("PassThrough, a hostile user", (it) => {
  const field = (value: string) => `--b\r\ncontent-disposition: form-data; name="album"\r\n\r\n${value}`
  const twice = "The form has the field album twice."
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, ""]))
  const cut = "The multipart body ends before its last boundary."
  const twoFiles = "The form has more than one file."
  const late = "The field album comes after the file. Send all fields before the file."

  it.effect.each<readonly [what: string, body: string, status: number, description: string, isCreated: boolean]>([
    ["that is cut off", before() + "x".repeat(1000), 400, cut, true],
    ["whose large file is cut off", before() + "x".repeat(9 * MiB), 400, cut, true],
    ["with two files", `${before()}x\r\n${before()}y${after}`, 400, twoFiles, false],
    ["with a file after a large one", `${before()}${"x".repeat(MiB)}\r\n${before()}y${after}`, 400, twoFiles, true],
    ["with a field after its file", `${before()}x\r\n${field("a")}${after}`, 400, late, false],
    ["with a field after a large file", `${before()}${"x".repeat(MiB)}\r\n${field("a")}${after}`, 400, late, true],
    ["with a field twice", `${field("a")}\r\n${field("b")}\r\n${before()}x${after}`, 400, twice, false],
    ["with 1000 fields", before(many) + after, 413, "The form has more than 32 fields.", false],
    ["without a file", `${field("a")}\r\n--b--`, 400, "The form has no file.", false],
    ["whose file has no name", `${before({}, "")}x${after}`, 400, "The name of the file is invalid.", false]
  ])("stores nothing of a form %s, and is told why", function* ([, body, status, description, isCreated]) {
    const { port, sockets, states } = yield* application()
    assert.deepStrictEqual(yield* post(port, body), { status, description })
    const seen = (yield* states).filter((state) => state !== undefined)
    assert.deepStrictEqual(seen, isCreated ? ["Canceled"] : [])
    yield* until(() => sockets.size === 0)
  })

  it.effect("cannot send more than the policy permits", function* () {
    const { bytesRead, port, sockets, states } = yield* application({}, { maxBytes: MiB })
    const large = { status: 413, description: `The file has more than ${MiB} bytes.` }
    assert.deepStrictEqual(yield* post(port, before() + "x".repeat(2 * MiB) + after), large)
    // An announced body is refused before the Assembly is created.
    assert.deepStrictEqual(yield* states, [undefined])
    assert.deepStrictEqual(yield* post(port, before() + "x".repeat(MiB + 1) + after), large)
    assert.deepStrictEqual(yield* states, [undefined, "Canceled"])

    const read = bytesRead()
    const endless = yield* open(port)
    yield* endless.write(headOf(`/assembly-uploads/${newUploadId()}`, chunked) + chunk(before()))
    while (!endless.isClosed()) yield* endless.write(chunk("x".repeat(65536)))
    assert.strictEqual(statusIn(endless.received()), 413)
    assert.isBelow(bytesRead() - read, 4 * MiB)
    assert.deepStrictEqual(yield* states, [undefined, "Canceled", "Canceled"])
    yield* until(() => sockets.size === 0)
    assert.strictEqual((yield* post(port, before() + "x".repeat(MiB) + after)).status, 200)
  })

  it.effect("cannot stop in the middle for ever", function* () {
    const { port, sockets, states } = yield* application({ idleTimeout: "20 millis" })
    for (const start of ["", "--b\r\n", before(), before() + "x".repeat(1000)]) {
      const raw = yield* open(port)
      yield* raw.write(headOf(`/assembly-uploads/${newUploadId()}`, { ...type, "content-length": "9999999" }) + start)
      yield* until(raw.isClosed)
      assert.deepStrictEqual([statusIn(raw.received()), problemIn(raw)], [408, "The body stopped arriving."])
    }
    yield* until(() => sockets.size === 0)
    for (const state of yield* states) assert.oneOf(state, ["Canceled", undefined])
  })

  it.effect("cannot take the room of others before the policy has decided", function* () {
    const begin = Effect.fnUntraced(function* (port: number) {
      const raw = yield* open(port)
      yield* raw.write(headOf(`/assembly-uploads/${newUploadId()}`, chunked) + chunk("--b\r\nx: -"))
      return raw
    })
    const { port } = yield* application({ maxUploads: 1 })
    yield* Effect.forEach([1, 2, 3], () => begin(port))
    assert.strictEqual((yield* post(port, before() + "x" + after)).status, 200)

    const brief = yield* application({ receiveTimeout: "20 millis" })
    const raw = yield* begin(brief.port)
    while (!raw.isClosed()) yield* raw.write(chunk("-"))
    assert.deepStrictEqual([statusIn(raw.received()), problemIn(raw)], [408, "The form took too long to arrive."])
  })

  it.effect("leaves only the newest ends behind if the policy refuses", function* () {
    const refuse = new Refusal.Unauthenticated({ description: "nobody" })
    const { port } = yield* application({ maxUploads: 1, maxWatchers: 2, policy: () => Effect.fail(refuse) })
    const statusOf = (uploadId: string) =>
      Effect.map(post(port, before() + "x" + after, type, uploadId), ({ status }) => status)
    const ids = [newUploadId(), newUploadId(), newUploadId(), newUploadId()] as const
    for (const id of ids) assert.strictEqual(yield* statusOf(id), 401)
    // A page that has seen the end of a known upload is answered with 204.
    const answers = yield* Effect.forEach(ids, (id) =>
      Effect.gen(function* () {
        const watcher = yield* watch(port, id, "last-event-id: 1\r\n")
        yield* until(() => watcher.received() !== "")
        yield* watcher.destroy
        return statusIn(watcher.received())
      })
    )
    assert.deepStrictEqual(answers, [200, 204, 204, 204])
  })

  it.effect("cannot fill the memory before, beside or after the file", function* () {
    const { bytesRead, port, sockets, states } = yield* application()
    const endless = {
      "a preamble": "",
      "a field": '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\n',
      "a header": "--b\r\ncontent-disposition: "
    }
    for (const [what, start] of Object.entries(endless)) {
      const raw = yield* open(port)
      const read = bytesRead()
      yield* raw.write(headOf(`/assembly-uploads/${newUploadId()}`, chunked) + chunk(`${start}x`))
      while (!raw.isClosed()) yield* raw.write(chunk("x".repeat(65536)))
      assert.oneOf(statusIn(raw.received()), [400, 413], what)
      assert.isBelow(bytesRead() - read, 2 * MiB)
    }
    assert.deepStrictEqual(yield* states, [])

    const behind = `${before()}x\r\n--b\r\ncontent-disposition: form-data; name="y"\r\n\r\n`
    assert.strictEqual((yield* post(port, behind + "y".repeat(MiB) + after)).status, 413)
    assert.deepStrictEqual(yield* states, ["Canceled"])
    // What comes after the form belongs to nothing.
    assert.strictEqual((yield* post(port, `${before()}x${after}${"y".repeat(MiB)}`)).status, 200)
    yield* until(() => sockets.size === 0)
  })

  it.effect("is told that its request is none, and not what the application does wrong", function* () {
    const { port, states } = yield* application()
    const json = yield* post(port, "{}", { "content-type": "application/json" })
    assert.deepStrictEqual(json, { status: 415, description: "The body is not multipart/form-data." })
    for (const id of ["short", "x".repeat(65), "%2e%2e%2f%2e%2e%2f%2e%2e%2f", "0123456789abcdef%00"]) {
      assert.strictEqual((yield* post(port, before() + "x" + after, type, id)).status, 400, id)
    }
    assert.deepStrictEqual(yield* states, [])
    for (const [grant, status, description] of [
      [{ filename: "" }, 502, "The service did not take the upload."],
      [{ maxBytes: -1 }, 500, "The application failed."]
    ] as const) {
      const chosen = yield* application({}, grant)
      assert.deepStrictEqual(yield* post(chosen.port, before() + "x" + after), { status, description })
    }
  })

  it.effect("on another site is refused before its body is read", function* () {
    const { files, port } = yield* application()
    for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
      assert.strictEqual((yield* post(port, before() + "x" + after, { ...type, ...headers })).status, 403)
      const watcher = yield* watch(port, newUploadId(), `${Object.entries(headers)[0]?.join(": ")}\r\n`)
      yield* until(() => statusIn(watcher.received()) === 403)
    }
    assert.deepStrictEqual(files, [])
  })

  it.effect("finds no room beyond the limits, and the room comes back", function* () {
    const { port, sockets } = yield* application({ maxUploads: 1, maxWatchers: 1 })
    const uploadId = newUploadId()
    const watcher = yield* watch(port, uploadId)
    yield* until(() => statusIn(watcher.received()) === 200)
    const second = yield* watch(port, uploadId)
    yield* until(() => statusIn(second.received()) === 503)

    const raw = yield* open(port)
    yield* raw.write(headOf(`/assembly-uploads/${uploadId}`, chunked) + chunk(`${before()}xx`))
    yield* until(() => watcher.tags().includes("AssemblyCreated"))
    const busy = newUploadId()
    assert.strictEqual((yield* post(port, before() + "x" + after, type, busy)).status, 503)
    assert.strictEqual((yield* post(port, before() + "x" + after, type, uploadId)).status, 409)
    yield* raw.destroy
    yield* until(() => watcher.tags().includes("Failed"))
    for (const id of [uploadId, busy]) {
      assert.strictEqual((yield* post(port, before() + "x" + after, type, id)).status, 200)
    }
    yield* second.destroy
    yield* watcher.destroy
    yield* until(() => sockets.size === 0)
    const third = yield* watch(port, uploadId)
    yield* until(() => third.tags().includes("Stored"))
  })
})
