/**
 * The end of an upload in parts: only what the server proves is told as complete, and parts that may be a file by now
 * are left alone.
 */
import { UploadEvent, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { assert, Clients, type Fault, layer, layerTest, Scene } from "./utils/index.ts"
import { ScriptedTus, Tests, TusServer, Upload } from "./utils/index.ts"

const size = 3 * 1024 * 1024
const bytes = Scene.content(size)
const source = UploadSource.fromBytes(bytes)
const options = { ...Scene.options, parallel: 3 } as const

const { count } = ScriptedTus

/** An answer to the final creation that does not tell the offset, as tusd gives it, or that tells another one. */
const telling = (answer: ScriptedTus.Answer, offset?: number): ScriptedTus.Answer => {
  const { "upload-offset": _, ...headers } = answer.headers ?? {}
  return { ...answer, headers: offset === undefined ? headers : { ...headers, "upload-offset": String(offset) } }
}

/** A server whose final upload answers HEAD in turn so; the last answer is repeated. */
const finalAnswers = Effect.fnUntraced(function* (...answers: ReadonlyArray<ScriptedTus.Answer | "cut">) {
  const server = yield* ScriptedTus.make
  let final: string | undefined
  let asked = 0
  server.meet = (request, go) => {
    if (request.method === "FINAL") {
      const answer = go()
      final = answer.headers?.["location"]
      return telling(answer)
    }
    if (request.path !== final || request.method !== "HEAD") return go()
    return answers[Math.min(asked++, answers.length - 1)] ?? go()
  }
  return server
})

const head = (headers: Readonly<Record<string, string>>): ScriptedTus.Answer => ({ status: 200, headers })
const whole = head({ "upload-offset": String(size), "upload-length": String(size) })
const pending = head({ "upload-length": String(size) })

layer(Clients.undici)("A Location that is taken", (it) => {
  const at = (method: "POST" | "FINAL") =>
    Effect.gen(function* () {
      const server = yield* ScriptedTus.make
      let first: string | undefined
      server.meet = (request, go) => {
        const answer = go()
        if (request.method === "POST") first ??= answer.headers?.["location"]
        return request.method === method ? ScriptedTus.withHeaders(answer, { location: first ?? "" }) : answer
      }
      const error = yield* Effect.flip(Upload.journaled.run(server.target, source, options))
      return { error, requests: server.requests, host: new URL(server.origin).host }
    })

  it.effect("by another part refuses the parts, before a byte is sent", UploadJournal.layerMemory(), function* () {
    const { error, host, requests } = yield* at("POST")
    assert.strictEqual(error.message, `create at ${host}: status 201, two parts have the same Location`)
    assert.notInclude(requests, "PATCH")
  })

  it.effect("by a part is no final upload, nor in the journal", UploadJournal.layerMemory(), function* () {
    const { error } = yield* at("FINAL")
    assert.strictEqual(error._tag, "CreationUnknown")
    assert.match(error.message, /the final upload has the Location of a part/)
    const { list } = yield* UploadJournal.UploadJournal
    const states = (yield* list).map(({ entry }) => entry.state._tag)
    assert.deepStrictEqual(states, ["Concatenating"])
  })
})

layer(Clients.undici)("Parts that were put together", (it) => {
  it.effect("are not asked about when the answer to the final creation tells their last byte", function* () {
    const server = yield* ScriptedTus.make
    const events = yield* Stream.runCollect(Upload.events(server.target, source, options))
    assert.deepInclude(events.at(-1), { _tag: "Completed", length: BigInt(size) })
    assert.strictEqual(count(server, "HEAD"), 0)
  })

  it.effect.each([undefined, 0, size - 1, size + 1])("are asked about when it tells the offset %s", function* (offset) {
    const server = yield* ScriptedTus.changing("FINAL", (go) => telling(go(), offset))
    const { length } = yield* Upload.run(server.target, source, options)
    assert.strictEqual(length, BigInt(size))
    assert.strictEqual(count(server, "HEAD"), 1)
  })

  it.effect("are refused with 501, which is no doubt, and removed", function* () {
    const server = yield* ScriptedTus.changing("FINAL", () => ({ status: 501, body: "no\n" }))
    const error = yield* Effect.flip(Upload.run(server.target, source, options))
    assert.deepInclude(error, { _tag: "UploadRefused", status: 501 })
    assert.strictEqual(server.uploads.size, 0)
  })

  it.effect("are waited for while the server tells no offset, or one before the end", function* () {
    const before = head({ "upload-offset": "0", "upload-length": String(size) })
    const server = yield* finalAnswers(pending, before, head({}), whole)
    const events = yield* Stream.runCollect(Upload.events(server.target, source, options))
    assert.strictEqual(count(server, "HEAD"), 4)
    const asked = `offset at ${new URL(server.origin).host}: status 200`
    assert.deepStrictEqual(Tests.pluck(events.filter(UploadEvent.$is("Waiting")), "reason"), [
      `${asked}, upload-offset missing, upload-length ${size}`,
      `${asked}, upload-offset 0, upload-length ${size}`,
      `${asked}, upload-offset missing, upload-length missing`
    ])
  })

  it.effect("into an upload that waits for its length: fails at once with UploadUntrusted", function* () {
    const server = yield* finalAnswers(head({ "upload-offset": "0", "upload-defer-length": "1" }))
    const error = yield* Effect.flip(Upload.run(server.target, source, options))
    assert.strictEqual(error._tag, "UploadUntrusted")
    assert.include(error.message, `the parts have ${size} bytes, but the upload-length of the final upload is`)
    assert.strictEqual(count(server, "HEAD"), 1)
  })

  it.effect("into another length are removed by a restart only", UploadJournal.layerMemory(), function* () {
    const other = head({ "upload-offset": "0", "upload-length": "0" })
    const server = yield* finalAnswers(other, whole)
    const untrusted = Upload.journaled.run(server.target, source, options)
    const error = yield* Effect.flip(untrusted)
    const host = new URL(server.origin).host
    const description = `offset at ${host}: status 200, the parts have ${size} bytes, but the upload-length of the final upload is 0`
    assert.deepInclude(error, { _tag: "UploadUntrusted", description, mayBeWhole: true })
    const { length } = server.requests
    assert.deepStrictEqual(yield* Effect.flip(untrusted), error)
    assert.strictEqual(server.requests.length, length)
    assert.strictEqual(server.uploads.size, 4)

    const restarted = Upload.journaled.events(server.target, source, { ...options, restart: true })
    const [first] = yield* Stream.runCollect(restarted)
    const reason = "restart was requested; the upload in the journal was Untrusted"
    assert.deepInclude(first, { _tag: "Restarted", reason })
    assert.strictEqual(count(server, "DELETE"), 4)
    // The three parts and the final upload of the new one.
    assert.strictEqual(server.uploads.size, 4)
    assert.deepStrictEqual([...server.uploads.values()].at(-1)?.bytes, Buffer.from(bytes))
  })

  it.effect("are asked about again when the question fails, as often as maxRetries says", function* () {
    const broken = [{ status: 502 }, "cut", { status: 429, headers: { "retry-after": "0" } }] as const
    const server = yield* finalAnswers(...broken, whole)
    yield* Upload.run(server.target, source, options)
    const error = yield* Effect.flip(
      Upload.run((yield* finalAnswers(...broken, whole)).target, source, { ...options, maxRetries: 2 })
    )
    assert.strictEqual(error._tag, "CreationUnknown")
  })

  it.effect.each([404, 410])(
    "are whole behind a URL that answers %d when the receipt says so, else unknown",
    function* (status) {
      yield* Upload.run((yield* finalAnswers({ status })).target, source, options)
      for (const retell of [
        () => '{"tus_uploads":[]}',
        // Whole, and of another size than the parts.
        (body: string) => body.replaceAll(/"(size|offset)":\d+/g, '"$1":5')
      ]) {
        const silent = yield* finalAnswers({ status })
        const { meet } = silent
        silent.meet = (request, go) =>
          request.method === "GET" ? { ...go(), body: retell(go().body ?? "") } : meet(request, go)
        const error = yield* Effect.flip(Upload.run(silent.target, source, options))
        assert.strictEqual(error._tag, "CreationUnknown")
        assert.strictEqual(count(silent, "DELETE"), 0)
      }
    }
  )

  it.effect("are proven by the next run, by a receipt", UploadJournal.layerMemory(), function* () {
    const server = yield* finalAnswers(pending)
    const { meet } = server
    let isFinished = false
    server.meet = async (request, go) => {
      if (request.method === "FINAL") {
        await meet(request, go)
        return "cut"
      }
      if (request.method !== "GET" || isFinished) return meet(request, go)
      return { ...go(), body: go().body?.replaceAll('"finished":true', '"finished":false') }
    }
    const events = Upload.journaled.events(server.target, source, { ...options, finishTimeout: "200 millis" })
    assert.strictEqual((yield* Effect.flip(UploadEvent.result(events)))._tag, "CreationUnknown")
    isFinished = true
    yield* UploadEvent.result(events)
    assert.strictEqual(count(server, "FINAL"), 1)
  })
})

/** An upload in parts that is left when so many requests of a kind have come, none of which is answered. */
const leftAt = Effect.fnUntraced(function* (method: ScriptedTus.Request["method"], requests: number) {
  const server = yield* ScriptedTus.changing(method, () => new Promise<"cut">(() => undefined))
  const fiber = yield* Effect.forkChild(Upload.run(server.target, source, options))
  yield* Scene.soon(() => count(server, method) === requests)
  yield* Fiber.interrupt(fiber)
  return server
})

// Time stands still, so that the limit of the farewell is reached where a test says so.
layerTest(Clients.undici)("Parts of an upload that is left", (it) => {
  it.effect("are removed while their bytes are sent", function* () {
    assert.strictEqual((yield* leftAt("PATCH", 3)).uploads.size, 0)
  })

  it.effect("are removed at the news that the last byte has left", function* () {
    const server = yield* ScriptedTus.make
    yield* Upload.events(server.target, source, options).pipe(
      Stream.takeUntil(({ _tag }: UploadEvent.UploadEvent) => _tag === "Finishing"),
      Stream.runDrain
    )
    assert.strictEqual(server.uploads.size, 0)
    assert.strictEqual(count(server, "FINAL"), 0)
  })

  it.effect("stay once they may be a file", function* () {
    const server = yield* leftAt("FINAL", 1)
    assert.strictEqual(count(server, "DELETE"), 0)
    assert.strictEqual(server.uploads.size, 3)
  })

  it.effect("are removed after a defect, which stays one", function* () {
    const server = yield* ScriptedTus.make
    const dying = UploadSource.make({ size: BigInt(size), bytes: () => Stream.die(new Error("a bug")) })
    const exit = yield* Effect.exit(Upload.run(server.target, dying, { ...options, maxRetries: 0 }))
    assert.strictEqual(exit._tag, "Failure")
    assert.strictEqual(server.uploads.size, 0)
  })
})

layerTest(Clients.undici)("Parts that are being put together", (it) => {
  it.effect("are unknown when that lasts longer than finishTimeout, and stay", function* () {
    const server = yield* finalAnswers(pending)
    const fiber = yield* Effect.forkChild(
      Effect.flip(Upload.run(server.target, source, { ...options, finishTimeout: "20 seconds" }))
    )
    yield* Scene.soon(() => count(server, "HEAD") === 1)
    yield* TestClock.adjust("20 seconds")
    const error = yield* Fiber.join(fiber)
    assert.strictEqual(error._tag, "CreationUnknown")
    assert.include(error.message, "upload-offset missing")
    assert.strictEqual(count(server, "DELETE"), 0)
    assert.strictEqual(count(server, "FINAL"), 1)
  })
})

const large = Scene.content(4 * 1024 * 1024 + 5)

const start = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault> = [], parallel = 4) {
  const { server, target } = yield* Scene.make(faults)
  const events = Upload.events(target, UploadSource.fromBytes(large), { ...Scene.options, parallel })
  return { server, run: Stream.runCollect(events) }
})

const countOf = (events: ReadonlyArray<UploadEvent.UploadEvent>, tag: UploadEvent.UploadEvent["_tag"]) =>
  events.filter(({ _tag }) => _tag === tag).length

layer(Clients.undici)("Upload in parts", (it) => {
  it.effect("sends parts side by side and puts them together", function* () {
    const { run, server } = yield* start()
    const events = yield* run
    assert.strictEqual(server.partials(), 4)
    assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(large))
    assert.strictEqual(countOf(events, "PartCompleted"), 4)
    assert.deepInclude(events.at(-1), { _tag: "Completed", length: BigInt(large.length) })
    const progress = events.findLast((event) => event._tag === "Progress")
    assert.deepInclude(progress, { acknowledged: BigInt(large.length), total: BigInt(large.length) })
    for (const { metadata } of server.created) {
      assert.deepInclude(metadata, { filename: "a.bin", fieldname: "file", assembly_url: server.assemblySslUrl })
    }
  })

  it.effect.each([1, 3])("goes through a proxy that adds a prefix to every path, in parts: %s", function* (parallel) {
    const server = yield* ScriptedTus.make
    const paths: Array<string> = []
    server.meet = ({ headers, path }, go) => {
      paths.push(path)
      const concat = headers["upload-concat"]
      if (concat !== undefined && concat !== "partial") {
        assert.match(String(concat), /^final;\/resumable\/files\/u0 \/resumable\/files\/u1 \/resumable\/files\/u2$/)
      }
      const answer = go()
      const { location } = answer.headers ?? {}
      return location === undefined ? answer : ScriptedTus.withHeaders(answer, { location: `/proxy/v1${location}` })
    }
    const target = yield* UploadTarget.make({
      tusUrl: `${server.origin}/proxy/v1/resumable/files/`,
      assemblySslUrl: `${server.origin}/proxy/v1/assemblies/${"0".repeat(32)}`,
      baseUrl: `${server.origin}/proxy/v1`
    })
    yield* Upload.run(target, UploadSource.fromBytes(large), { ...Scene.options, parallel })
    assert.isTrue([...server.uploads.values()].at(-1)?.bytes.equals(large))
    for (const path of paths) assert.match(path, /^\/proxy\/v1\//)
  })

  it.effect("a part that fails does not restart the others", function* () {
    const { run, server } = yield* start([
      { _tag: "Cut", method: "PATCH", bytes: 300_000 },
      { _tag: "LostAnswer", method: "PATCH" },
      { _tag: "Status", method: "PATCH", status: 503 }
    ])
    yield* run
    assert.strictEqual(server.partials(), 4)
    assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(large))
    assert.strictEqual(server.log.filter((line) => line === "FINAL 201").length, 1)
  })

  it.effect("parts whose first body is refused: Resumed tells their offsets in the whole upload", function* () {
    const server = yield* ScriptedTus.make
    const paths = new Set<string>()
    server.meet = ({ method, path }, go) =>
      method !== "PATCH" || paths.size === paths.add(path).size ? go() : { status: 503 }
    const events = yield* Stream.runCollect(Upload.events(server.target, source, options))
    const offsets = Tests.pluck(events.filter(UploadEvent.$is("Resumed")), "offset")
    assert.deepStrictEqual(offsets.map(Number).toSorted(), [0, size / 3, (size / 3) * 2])
  })

  it.effect.each([
    ["POST", true, "Completed", 1, 0],
    ["POST", false, "CreationUnknown", 0, 3],
    ["FINAL", true, "Completed", 1, 0],
    ["FINAL", false, "CreationUnknown", 1, 0]
  ] as const)(
    "a lost answer to %s, with receipts: %s: ends as %s, with %d concatenation, and %d parts are freed",
    function* ([method, receipts, end, concatenations, freed]) {
      const { run, server } = yield* start([{ _tag: "LostAnswer", method }])
      server.receipts = receipts
      const ended = yield* Effect.result(run)
      assert.strictEqual(ended._tag === "Success" ? ended.success.at(-1)?._tag : ended.failure._tag, end)
      assert.strictEqual(server.partials(), 4)
      assert.strictEqual(server.log.filter((line) => line === "FINAL 201").length, concatenations)
      assert.strictEqual(server.log.filter((line) => line === "DELETE 204").length, freed)
      assert.strictEqual(server.log.includes("PATCH 204"), concatenations > 0)
    }
  )

  it.effect("too many parts for one final request are refused before a byte is sent", function* () {
    const server = yield* ScriptedTus.make
    // Long URLs, because a busy machine may not remove a hundred parts in the time that a failure waits for this.
    const long = `/resumable/files/${"a".repeat(1000)}/`
    server.meet = (_, go) => {
      const answer = go()
      const location = answer.headers?.["location"]?.replace("/resumable/files/", long)
      return location === undefined ? answer : { ...answer, headers: { location } }
    }
    const unread = UploadSource.make({ size: 9n * 1024n * 1024n, bytes: () => Stream.die("no byte may be asked for") })
    const error = yield* Effect.flip(Upload.run(server.target, unread, { ...Scene.options, parallel: 9 }))
    assert.strictEqual(error._tag, "InvalidRequest")
    const counts = ["POST", "PATCH", "DELETE"].map((method) => server.requests.filter((one) => one === method).length)
    assert.deepStrictEqual(counts, [9, 0, 9])
  })

  it.effect("a small source has no parts", function* () {
    const { server, target } = yield* Scene.make()
    const small = UploadSource.fromBytes(large.subarray(0, 1_900_000))
    yield* Upload.run(target, small, { ...Scene.options, parallel: 4 })
    assert.strictEqual(server.partials(), 0)
  })

  // A new connection costs round trips, above all with TLS.
  it.effect.each([1, 4])("%d parts take connections that the creations have opened", function* (parallel) {
    const server = yield* ScriptedTus.make
    const before = new Set<number | undefined>()
    const carrying = new Set<number | undefined>()
    server.meet = ({ connection, method }, go) => {
      if (method === "PATCH") carrying.add(connection)
      if (method === "POST" || method === "OPTIONS") before.add(connection)
      return go()
    }
    yield* Upload.run(server.target, UploadSource.fromBytes(large), { ...Scene.options, parallel })
    assert.isTrue([...carrying].every((connection) => before.has(connection)))
    assert.isAtMost(before.size, parallel)
  })
})
