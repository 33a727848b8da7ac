/** What the options of `PassThrough` change, and what they are by default. */
import { PassThrough, Refusal } from "@assembly-effect/http"
import { assert, describe, it, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import { after, application, before, chunked, last, live, newUploadId, watch } from "./passing.ts"
import {
  chunk,
  formOf,
  headOf,
  logged,
  open,
  problemIn,
  secondsUntil,
  send,
  serve,
  statusIn,
  unreachable,
  until
} from "./support.ts"

/** An application whose policy permits nothing, so that it needs no service. */
const closed = Effect.fnUntraced(function* (options: Partial<PassThrough.Options<never>> = {}) {
  const policy = () => Effect.fail(new Refusal.Forbidden({ description: "The album is full." }))
  return yield* serve(PassThrough.layer({ policy, ...options }).pipe(Layer.provide(unreachable)))
})

const post = (path: string, headers: Readonly<Record<string, string>> = {}) => headOf(path, { ...chunked, ...headers })

describe("PassThrough, its limits", () => {
  it.effect("waits 10 s for the form, 30 s for the next bytes and an hour for all by default", function* () {
    for (const [options, problem, least, most] of [
      [{}, "The form took too long to arrive.", 9, 20],
      [{ receiveTimeout: "1 day" }, "The body stopped arriving.", 29, 40],
      [{ idleTimeout: "5 seconds" }, "The body stopped arriving.", 4, 15],
      [{ idleTimeout: "1 day", receiveTimeout: "1 day" }, "The upload took too long.", 3599, 3610],
      [{ idleTimeout: "1 day", timeout: "5 seconds" }, "The upload took too long.", 4, 15]
    ] as const) {
      const served = yield* closed(options)
      const raw = yield* open(served.port)
      yield* raw.write(post(`/assembly-uploads/${newUploadId()}`) + chunk("--b"))
      yield* until(() => served.bytesRead() > 0)
      const seconds = yield* secondsUntil(raw.isClosed, served)
      assert.deepStrictEqual([statusIn(raw.received()), problemIn(raw)], [408, problem])
      assert.isAtLeast(seconds, least)
      assert.isAtMost(seconds, most)
    }
  })

  it.effect("takes four requests for each of its 64 uploads by default before their policy decides", function* () {
    const { port } = yield* closed()
    const raws = yield* Effect.forEach(Array.from({ length: 257 }), () => open(port), { concurrency: 32 })
    for (const raw of raws) yield* raw.write(post(`/assembly-uploads/${newUploadId()}`) + chunk("--b"))
    const answered = () => raws.filter((raw) => raw.received() !== "")
    yield* until(() => answered().length > 0)
    const seen = answered().map((raw) => [statusIn(raw.received()), problemIn(raw)])
    assert.deepStrictEqual(seen, [[503, "Too many uploads are arriving."]])
  })

  it.effect("lets 1024 pages watch by default", function* () {
    const { port } = yield* closed()
    const raws = yield* Effect.forEach(Array.from({ length: 1025 }), () => watch(port, newUploadId()), {
      concurrency: 32
    })
    yield* until(() => raws.every((raw) => raw.received() !== ""))
    const refused = raws.filter((raw) => statusIn(raw.received()) !== 200)
    const seen = refused.map((raw) => [statusIn(raw.received()), problemIn(raw)])
    assert.deepStrictEqual(seen, [[503, "Too many pages watch uploads."]])
  })

  it.effect("takes ids that nobody guesses only", function* () {
    const { port } = yield* closed()
    for (const length of [15, 16, 64, 65]) {
      const watcher = yield* watch(port, "x".repeat(length))
      yield* until(() => watcher.received() !== "")
      assert.strictEqual(statusIn(watcher.received()), length < 16 || length > 64 ? 400 : 200, String(length))
    }
  })

  it.effect("has the path and the origins that the application chose", function* () {
    const { origin } = yield* closed({ path: "/files", origins: ["https://app.example.com"] })
    const form = formOf("x")
    for (const [from, problem] of [
      ["https://app.example.com", "The album is full."],
      ["https://evil.example", "A page of another site may not send this request."]
    ] as const) {
      const { body } = yield* send(`${origin}/files/${newUploadId()}`, { body: form, headers: { origin: from } })
      assert.strictEqual((body as { readonly description: string }).description, problem)
    }
  })
})

describe("PassThrough, its events", () => {
  it.effect("keep a quiet connection open, and are neither cached nor buffered", function* () {
    const served = yield* closed()
    const watcher = yield* watch(served.port, newUploadId())
    yield* until(() => watcher.received().includes("\r\n\r\n"))
    assert.match(watcher.received(), /\r\ncache-control: no-store\r\n/i)
    assert.match(watcher.received(), /\r\nx-accel-buffering: no\r\n/i)
    const comments = () => [...watcher.received().matchAll(/^:\n/gm)].length
    let seconds = 0
    for (let next = comments() + 1; next <= 4; next++) {
      seconds += yield* secondsUntil(() => comments() >= next, served)
    }
    assert.isAtMost(seconds, 70)
  })

  it.effect("end with the last one", function* () {
    const { origin, port } = yield* closed()
    const uploadId = newUploadId()
    const watcher = yield* watch(port, uploadId)
    yield* until(() => watcher.received().includes("\r\n\r\n"))
    const form = formOf("x")
    assert.strictEqual((yield* send(`${origin}/assembly-uploads/${uploadId}`, { body: form })).status, 403)
    yield* until(() => watcher.received().endsWith("\r\n0\r\n\r\n"))
    assert.deepStrictEqual(watcher.events(), [{ _tag: "Failed", description: "The album is full." }])
    const again = yield* watch(port, uploadId, "last-event-id: 1\r\n")
    yield* until(() => statusIn(again.received()) === 204)
    // A number that is none counts as no event.
    for (const seen of ["0", "-5", "x", "1e99"]) {
      const late = yield* watch(port, uploadId, `last-event-id: ${seen}\r\n`)
      yield* until(() => late.received() !== "")
      assert.strictEqual(statusIn(late.received()), 200, seen)
    }
  })
})

layer(live)("PassThrough, its form", ({ effect }) => {
  effect("has fields before the file, in whatever pieces it arrives", function* () {
    const { files, port } = yield* application()
    const text = before({ album: "holidays", note: "a note" }) + "x" + after
    const at = text.indexOf("--b", 3)
    for (const pieces of [[text], [text.slice(0, at), text.slice(at)], [...text]]) {
      const raw = yield* open(port)
      yield* raw.write(post(`/assembly-uploads/${newUploadId()}`, { connection: "close" }))
      for (const piece of pieces) yield* raw.write(chunk(piece))
      yield* raw.write("0\r\n\r\n")
      yield* until(raw.isClosed)
      assert.strictEqual(statusIn(raw.received()), 200)
      assert.deepStrictEqual(last(files).fields, { album: "holidays", note: "a note" })
    }
  })

  effect("has fields of at most 64 KiB", function* () {
    const { origin } = yield* application()
    for (const [size, expected] of [
      [60_000, 200],
      [70_000, 413]
    ] as const) {
      const form = formOf("x", { note: "x".repeat(size) })
      assert.strictEqual((yield* send(`${origin}/assembly-uploads`, { body: form })).status, expected)
    }
  })
})

layer(live)("PassThrough, its Assembly", ({ effect }) => {
  effect("tells its progress no more often than the application chose", function* () {
    const large = formOf(new Uint8Array(4 * 1024 * 1024))
    const counts: Array<number> = []
    for (const progressInterval of [0, "1 hour"] as const) {
      const { origin, port } = yield* application({ chunkSize: 64 * 1024, progressInterval })
      const uploadId = newUploadId()
      const watcher = yield* watch(port, uploadId)
      yield* until(() => watcher.received().includes("\r\n\r\n"))
      yield* send(`${origin}/assembly-uploads/${uploadId}`, { body: large })
      yield* until(() => watcher.tags().includes("Stored"))
      counts.push(watcher.tags().filter((tag) => tag === "Progress").length)
    }
    const [all = 0, few = 0] = counts
    assert.isAbove(all, 40)
    // The first one, and those that were late and come before another event.
    assert.isBelow(few, 12)
  })

  effect("does not keep the answer waiting, if the policy does not", function* () {
    const steps = {
      ":original": { robot: "/upload/handle" },
      wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 }
    }
    const { origin, states } = yield* application({}, { params: { steps } })
    const { status } = yield* send(`${origin}/assembly-uploads/${newUploadId()}`, { body: formOf("x".repeat(1000)) })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(yield* states, ["Busy"])
  })

  effect("is named by its error if it fails, and other failures are told to the log only", () => {
    const { count, provide } = logged()
    return Effect.gen(function* () {
      const steps = {
        ":original": { robot: "/upload/handle" },
        fail: { robot: "/emulator/fail", use: ":original", error: "INVALID_FILE" }
      }
      const failing = yield* application({}, { wait: true, params: { steps } })
      const form = formOf("x".repeat(1000))
      const failed = yield* send(`${failing.origin}/assembly-uploads/${newUploadId()}`, { body: form })
      const problem = "The Assembly failed: INVALID_FILE."
      assert.deepStrictEqual([failed.status, failed.body], [502, { _tag: "UploadFailed", description: problem }])
      assert.strictEqual(count("INVALID_FILE"), 1)

      // The user did nothing wrong, so the answer is not 400.
      const broken = yield* application({}, { params: { templateId: "" } })
      const refused = yield* send(`${broken.origin}/assembly-uploads/${newUploadId()}`, { body: form })
      assert.strictEqual(refused.status, 502)
      assert.strictEqual(count("An upload of a user failed"), 2)
    }).pipe(provide)
  })
})
