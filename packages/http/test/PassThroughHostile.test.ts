/** Users whose files nobody wants. */
import * as Refusal from "@assembly-effect/http/Refusal"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { after, application, before, chunked, live, newUploadId, type, watch } from "./passing.ts"
import { chunk, headOf, open, type Raw, send, statusIn, until } from "./support.ts"

const MiB = 1024 * 1024

const problemIn = (raw: Raw): string => /"description":"([^"]*)"/.exec(raw.received())?.[1] ?? ""

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

layer(live, { excludeTestServices: true })("PassThrough, a hostile user", (it) => {
  it.effect("stores nothing of a body that is cut off, though its length is right", () =>
    Effect.gen(function* () {
      const { port, sockets, states } = yield* application()
      const cut = { status: 400, description: "The multipart body ends before its last boundary." }
      assert.deepStrictEqual(yield* post(port, before() + "x".repeat(1000)), cut)
      assert.deepStrictEqual(yield* post(port, before() + "x".repeat(9 * MiB)), cut)
      assert.deepStrictEqual(yield* states, ["Canceled", "Canceled"])
      yield* until(() => sockets.size === 0)
    })
  )

  it.effect("stores nothing of a form with two files", () =>
    Effect.gen(function* () {
      const { port, states } = yield* application()
      const second = { status: 400, description: "The form has more than one file." }
      assert.deepStrictEqual(yield* post(port, `${before()}x\r\n${before()}y${after}`), second)
      assert.deepStrictEqual(yield* states, [])
      assert.deepStrictEqual(yield* post(port, `${before()}${"x".repeat(MiB)}\r\n${before()}y${after}`), second)
      assert.deepStrictEqual(yield* states, ["Canceled"])
    })
  )

  it.effect("is told that a field comes after the file, where no policy reads it", () =>
    Effect.gen(function* () {
      const { files, port, states } = yield* application()
      const field = '--b\r\ncontent-disposition: form-data; name="album"\r\n\r\nholidays'
      const late = {
        status: 400,
        description: "The field album comes after the file. Send all fields before the file."
      }
      assert.deepStrictEqual(yield* post(port, `${before()}x\r\n${field}${after}`), late)
      assert.deepStrictEqual(files, [])
      assert.deepStrictEqual(yield* post(port, `${before()}${"x".repeat(MiB)}\r\n${field}${after}`), late)
      assert.deepStrictEqual(yield* states, ["Canceled"])
    })
  )

  it.effect("cannot send more than the policy permits", () =>
    Effect.gen(function* () {
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
  )

  it.effect("cannot stop in the middle for ever", () =>
    Effect.gen(function* () {
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
  )

  it.effect("cannot send byte by byte for ever", () =>
    Effect.gen(function* () {
      const { port, sockets, states } = yield* application({ timeout: "50 millis" })
      const raw = yield* open(port)
      yield* raw.write(headOf(`/assembly-uploads/${newUploadId()}`, chunked) + chunk(before()))
      while (!raw.isClosed()) yield* raw.write(chunk("x"))
      assert.deepStrictEqual([statusIn(raw.received()), problemIn(raw)], [408, "The upload took too long."])
      for (const state of yield* states) assert.oneOf(state, ["Canceled", undefined])
      yield* until(() => sockets.size === 0)
    })
  )

  it.effect("cannot take the room of others before the policy has decided, or the room of a form for ever", () =>
    Effect.gen(function* () {
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
  )

  it.effect("leaves only the newest ends behind if the policy refuses", () =>
    Effect.gen(function* () {
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
  )

  it.effect("is told that a field comes twice", () =>
    Effect.gen(function* () {
      const { files, port } = yield* application()
      const field = '--b\r\ncontent-disposition: form-data; name="album"\r\n\r\na\r\n'
      const { description, status } = yield* post(port, field + field + before() + "x" + after)
      assert.deepStrictEqual([status, description, files], [400, "The form has the field album twice.", []])
    })
  )

  it.effect("cannot fill the memory before, beside or after the file", () =>
    Effect.gen(function* () {
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
      const fields = before(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, ""])))
      assert.deepStrictEqual(yield* post(port, fields + after), {
        status: 413,
        description: "The form has more than 32 fields."
      })
      assert.deepStrictEqual(yield* states, [])

      const behind = `${before()}x\r\n--b\r\ncontent-disposition: form-data; name="y"\r\n\r\n`
      assert.strictEqual((yield* post(port, behind + "y".repeat(MiB) + after)).status, 413)
      assert.deepStrictEqual(yield* states, ["Canceled"])
      // What comes after the form belongs to nothing.
      assert.strictEqual((yield* post(port, `${before()}x${after}${"y".repeat(MiB)}`)).status, 200)
      yield* until(() => sockets.size === 0)
    })
  )

  it.effect("is told which form is none", () =>
    Effect.gen(function* () {
      const { port, states } = yield* application()
      const json = { "content-type": "application/json" }
      assert.deepStrictEqual(yield* post(port, "{}", json), {
        status: 415,
        description: "The body is not multipart/form-data."
      })
      const none = '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\ny\r\n--b--'
      assert.deepStrictEqual(yield* post(port, none), { status: 400, description: "The form has no file." })
      assert.deepStrictEqual(yield* post(port, before({}, "") + "x" + after), {
        status: 400,
        description: "The name of the file is invalid."
      })
      // The name that the policy has chosen is not a mistake of the user.
      const chosen = yield* application({}, { filename: "" })
      assert.deepStrictEqual(yield* post(chosen.port, before() + "x" + after), {
        status: 502,
        description: "The service did not take the upload."
      })
      for (const id of ["short", "x".repeat(65), "%2e%2e%2f%2e%2e%2f%2e%2e%2f", "0123456789abcdef%00"]) {
        assert.strictEqual((yield* post(port, before() + "x" + after, type, id)).status, 400, id)
      }
      for (const state of yield* states) assert.isUndefined(state)
    })
  )

  it.effect("on another site is refused before its body is read", () =>
    Effect.gen(function* () {
      const { files, port } = yield* application()
      for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
        assert.strictEqual((yield* post(port, before() + "x" + after, { ...type, ...headers })).status, 403)
        const watcher = yield* watch(port, newUploadId(), `${Object.entries(headers)[0]?.join(": ")}\r\n`)
        yield* until(() => statusIn(watcher.received()) === 403)
      }
      assert.deepStrictEqual(files, [])
    })
  )

  it.effect("finds no room beyond the limits, and the room comes back", () =>
    Effect.gen(function* () {
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
  )

  it.effect("cancels what a broken policy began, and refuses options that break a rule", () =>
    Effect.gen(function* () {
      const { origin } = yield* application({}, { maxBytes: -1 })
      const form = new FormData()
      form.set("file", new Blob(["x"]), "a.bin")
      assert.strictEqual((yield* send(`${origin}/assembly-uploads/${newUploadId()}`, { body: form })).status, 500)
      const exit = yield* Effect.exit(application({ maxUploads: 0, chunkSize: 0.5 }))
      assert.include(String(exit), "maxUploads: Expected a whole number of at least 1")
      assert.include(String(exit), "chunkSize: Expected a whole number of at least 1")
    })
  )
})
