/**
 * Uploads that a journal keeps: what the next run makes of what the last one left.
 */
import { Tus, UploadEvent, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Fiber, Schema, Stream } from "effect"
import { assert, describe, layer, live, Clients, type Fault, Journals } from "./utils/index.ts"
import { Scene, ScriptedTus, Tests, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(700_000)
const source = UploadSource.fromBytes(bytes)
const otherSource = UploadSource.fromBytes(bytes.map((byte) => byte ^ 1))
const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))

const hashOf = (from: UploadSource.Replayable) =>
  Effect.map(Stream.mkUint8Array(from.bytes(0n, from.size)), TusServer.sha256)

/** An upload that dies when the server has met these faults. */
const dying = (...faults: ReadonlyArray<Fault>) =>
  Effect.tap(Scene.make(faults), ({ target }) =>
    Effect.flip(Upload.journaled.run(target, source, { ...Scene.options, maxRetries: 0 }))
  )

const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 300_000 }

/** The states of the entries in the journal. */
const states = UploadJournal.UploadJournal.use(({ list }) =>
  Effect.map(list, (entries) => entries.map(({ entry }) => entry.state))
)

for (const [name, provided] of Object.entries(Journals.layers)) {
  const test = Tests.within(live, Journals.running(provided))

  describe(`an upload with a journal in ${name}`, () => {
    test("a broken upload goes on, and the journal knows it as complete then", function* () {
      const { server, target } = yield* dying(cut)
      assert.strictEqual((yield* states)[0]?._tag, "Created")
      yield* Upload.journaled.run(target, source, Scene.options)
      assert.strictEqual(server.created.length, 1)
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      assert.deepInclude((yield* states)[0], { _tag: "Completed", length: 700_000n })
      assert.strictEqual(server.log.filter((line) => line === "POST 201").length, 1)
    })

    // The stores keep texts, see UploadJournal.test.ts; what a run makes of an entry does not depend on its store.
    if (name !== "files") return

    test.each([
      ["creation", "POST", source, 1, 1],
      ["creation of a part", "POST", parts, 3, 4],
      ["concatenation", "FINAL", parts, 3, 4]
    ] as const)(
      "a %s that was lost is unknown until its receipt comes, and never repeated",
      function* ([, method, from, parallel, created]) {
        const { server, target } = yield* Scene.make([{ _tag: "LostAnswer", method }])
        server.receipts = false
        const run = Upload.journaled.run(target, from, { ...Scene.options, parallel })
        for (const _ of [1, 2]) assert.strictEqual((yield* Effect.flip(run))._tag, "CreationUnknown")
        server.receipts = true
        yield* run
        assert.strictEqual(server.created.length, created)
        assert.strictEqual(yield* Scene.stored(server, -1), yield* hashOf(from))
      }
    )

    test("a creation that its receipt told of is Created, and needs the receipt no more", function* () {
      const { server, target } = yield* Scene.make([{ _tag: "LostAnswer", method: "POST" }])
      const run = Upload.journaled.run(target, source, Scene.options)
      server.receipts = false
      assert.strictEqual((yield* Effect.flip(run))._tag, "CreationUnknown")
      server.receipts = true
      server.faults.push({ _tag: "NoAnswer", method: "HEAD" })
      const left = yield* Effect.forkChild(run)
      yield* Scene.soon(() => server.requests.includes("HEAD"))
      yield* Fiber.interrupt(left)
      const url = `${server.tusUrl}/${server.created[0]?.id}`
      assert.deepInclude((yield* states)[0], { _tag: "Created", url })
      server.receipts = false
      yield* run
      assert.strictEqual(server.created.length, 1)
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
    })

    for (const status of [403, 413, 423, 429] as const) {
      test(`a creation that ends in ${status} made nothing, and the next run makes the upload`, function* () {
        const { server, target } = yield* dying({ _tag: "Status", method: "POST", status })
        server.receipts = false
        yield* Upload.journaled.run(target, source, Scene.options)
        assert.strictEqual(server.created.length, 1)
        assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      })
    }

    for (const status of [403, 429] as const) {
      test(`a concatenation that ends in ${status} put nothing together, and the next run does`, function* () {
        const { server, target } = yield* Scene.make([{ _tag: "Status", method: "FINAL", status }])
        server.receipts = false
        const events = (maxRetries: number) =>
          Upload.journaled.events(target, parts, { ...Scene.options, parallel: 3, maxRetries })
        assert.include(["UploadRefused", "RateLimited"], (yield* Effect.flip(UploadEvent.result(events(0))))._tag)
        yield* UploadEvent.result(events(1))
        assert.strictEqual(server.partials(), 3)
        assert.strictEqual(server.log.filter((line) => line === "FINAL 201").length, 1)
        assert.strictEqual(yield* Scene.stored(server, -1), yield* hashOf(parts))
      })
    }

    test("other bytes are refused with what differs", function* () {
      const { server } = yield* dying(cut)
      const journal = yield* UploadJournal.UploadJournal
      const key = (yield* journal.list)[0]?.key ?? ""
      for (const [wrong, field] of [
        [otherSource, "fingerprint"],
        [UploadSource.fromBytes(bytes.subarray(1)), "size"]
      ] as const) {
        const error = yield* Effect.flip(Upload.journaled.resume({ key }, wrong, Scene.options))
        assert.deepInclude(error, { _tag: "UploadMismatch", field })
      }
      yield* Upload.journaled.resume({ key }, source, Scene.options)
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      yield* journal.forget(key)
      const error = yield* Effect.flip(Upload.journaled.resume({ key }, source, Scene.options))
      assert.strictEqual(error._tag, "NoSuchUpload")
    })

    for (const status of [401, 429, 502] as const) {
      test(`a resume that meets ${status} keeps the entry`, function* () {
        const { server, target } = yield* dying(cut, { _tag: "Status", method: "HEAD", status })
        yield* Effect.flip(Upload.journaled.run(target, source, { ...Scene.options, maxRetries: 0 }))
        assert.lengthOf(yield* states, 1)
        yield* Upload.journaled.run(target, source, Scene.options)
        assert.strictEqual(server.created.length, 1)
      })
    }

    test("a resume of an upload that is gone ends, and the next run starts over", function* () {
      const { server, target } = yield* dying(cut)
      server.forget(server.created[0]?.id ?? "")
      const error = yield* Effect.flip(Upload.journaled.run(target, source, Scene.options))
      assert.strictEqual(error._tag, "UploadGone")
      yield* Upload.journaled.run(target, source, Scene.options)
      assert.strictEqual(server.created.length, 2)
    })

    test("parts go on as a whole", function* () {
      const { server, target } = yield* Scene.make([
        { _tag: "SlowAnswer", method: "PATCH", millis: 0 },
        { _tag: "Cut", method: "PATCH", bytes: 500_000 }
      ])
      const options = { ...Scene.options, parallel: 3 }
      yield* Effect.flip(Upload.journaled.run(target, parts, { ...options, maxRetries: 0 }))
      assert.strictEqual((yield* states)[0]?._tag, "Parts")
      yield* Upload.journaled.run(target, parts, options)
      assert.strictEqual(server.partials(), 3)
      assert.strictEqual(yield* Scene.stored(server, -1), yield* hashOf(parts))
      assert.deepInclude((yield* states)[0], { _tag: "Completed", length: 3n * 1024n * 1024n })
    })

    test("a part whose creation was not answered is looked for before it is made again", function* () {
      const { server, target } = yield* Scene.make(
        Array.from({ length: 3 }, () => ({ _tag: "SlowAnswer", method: "POST", millis: 200 }))
      )
      const events = Upload.journaled.events(target, parts, { ...Scene.options, parallel: 3 })
      const left = yield* Effect.forkChild(UploadEvent.result(events))
      yield* Scene.soon(() => server.created.length === 3)
      yield* Fiber.interrupt(left)
      yield* UploadEvent.result(events)
      assert.strictEqual(server.partials(), 3)
      assert.strictEqual(yield* Scene.stored(server, -1), yield* hashOf(parts))
    })

    test("a part whose creation was refused is made by the next run, and the others are not made again", function* () {
      const { server, target } = yield* Scene.make([{ _tag: "Status", method: "POST", status: 403 }])
      // Nothing but the journal tells what was made.
      server.receipts = false
      const events = Upload.journaled.events(target, parts, { ...Scene.options, parallel: 3 })
      assert.strictEqual((yield* Effect.flip(UploadEvent.result(events)))._tag, "UploadRefused")
      assert.strictEqual(server.partials(), 2)
      yield* UploadEvent.result(events)
      assert.strictEqual(server.partials(), 3)
      assert.strictEqual(yield* Scene.stored(server, -1), yield* hashOf(parts))
    })
  })
}

const { metadata } = Scene.options

/** An upload of which the server has the first bytes, and its URL as another run finds it. */
const begun = (length = BigInt(bytes.length)) =>
  Effect.gen(function* () {
    const { server, target } = yield* Scene.make()
    const { url } = yield* Tus.create(target, { _tag: "Fixed", length, metadata })
    yield* Tus.append(url, { offset: 0n, body: bytes.subarray(0, 200_000) })
    const atRest = UploadTarget.urlAtRest(target)
    const text = yield* Schema.encodeEffect(atRest)(url)
    server.requests.length = 0
    return { server, target, url: yield* Schema.decodeEffect(atRest)(text) }
  })

layer(Clients.undici)("An upload that goes on from its URL", (it) => {
  it.effect("sends what the server does not have", function* () {
    const { server, target, url } = yield* begun()
    const { length } = yield* Upload.resume({ target, url, metadata }, source, Scene.options)
    assert.strictEqual(length, 700_000n)
    const methods = server.requests.map((request) => request.split(" ")[0])
    assert.deepStrictEqual(methods, ["HEAD", "PATCH"])
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
  })

  it.effect("tells where it goes on, and its end", function* () {
    const { target, url } = yield* begun()
    const events = yield* Stream.runCollect(Upload.resumeEvents({ target, url, metadata }, source, Scene.options))
    assert.deepStrictEqual(events[0], { _tag: "Resumed", offset: 200_000n })
    assert.strictEqual(events.at(-1)?._tag, "Completed")
  })

  it.effect("is refused where it has another length or other metadata, and nothing is sent", function* () {
    const other = yield* begun(600_000n)
    const length = yield* Effect.flip(Upload.resume({ ...other, metadata }, source, Scene.options))
    assert.deepInclude(length, { _tag: "UploadMismatch", field: "upload-length" })
    const { server, target, url } = yield* begun()
    const renamed = { target, url, metadata: { ...metadata, filename: "b.bin" } }
    const named = yield* Effect.flip(Upload.resume(renamed, source, Scene.options))
    assert.deepInclude(named, { _tag: "UploadMismatch", field: "upload-metadata" })
    const methods = [...other.server.requests, ...server.requests].map((request) => request.split(" ")[0])
    assert.deepStrictEqual(methods, ["HEAD", "HEAD"])
  })

  const own = { filename: "YS5iaW4=", fieldname: "ZmlsZQ==" }
  const headers: ReadonlyArray<readonly [header: string, isOurs: boolean]> = [
    [`filename ${own.filename},fieldname ${own.fieldname}`, true],
    [`fieldname ${own.fieldname}, filename ${own.filename} ,other`, true],
    // Unused bits of the last digit.
    [`filename ${own.filename},fieldname ZmlsZR==`, true],
    [
      `binary //79,lone %,caf\u00e9 w6k=,two words here,,other YQ==,other Yg==,filename ${own.filename},fieldname ${own.fieldname}`,
      true
    ],
    [`filename ${own.filename},filename ${own.filename},fieldname ${own.fieldname}`, false],
    [`filename ${own.filename} x,fieldname ${own.fieldname}`, false],
    [`filename //79,fieldname ${own.fieldname}`, false],
    [`filename %,fieldname ${own.fieldname}`, false],
    [`Filename ${own.filename},fieldname ${own.fieldname}`, false],
    [`fieldname ${own.fieldname}`, false],
    ["", false]
  ]
  it.effect.each(headers)("with the metadata '%s' from HEAD: continues %s", function* ([header, isOurs]) {
    const server = yield* ScriptedTus.make
    server.uploads.set("u", { metadata: header, length: bytes.length, bytes: Buffer.from(bytes.subarray(0, 9)) })
    const url = yield* Schema.decodeEffect(UploadTarget.urlAtRest(server.target))("/resumable/files/u")
    const done = yield* Effect.result(Upload.resume({ target: server.target, url, metadata }, source))
    assert.strictEqual(done._tag === "Success" ? true : done.failure._tag !== "UploadMismatch", isOurs)
    assert.strictEqual(server.requests.includes("PATCH"), isOurs)
  })

  it.effect.each(["", ",note !"])("a resumed upload is refused if HEAD has '%s' for an empty value", function* (note) {
    const server = yield* ScriptedTus.make
    const header = headers[0]![0] + note
    server.uploads.set("u", { metadata: header, length: bytes.length, bytes: Buffer.from(bytes.subarray(0, 9)) })
    const url = yield* Schema.decodeEffect(UploadTarget.urlAtRest(server.target))("/resumable/files/u")
    const given = { target: server.target, url, metadata: { ...metadata, note: null } }
    const error = yield* Effect.flip(Upload.resume(given, source))
    assert.deepInclude(error, { _tag: "UploadMismatch", expected: "the note of the creation" })
  })

  it.effect("checks its options first", function* () {
    const { server, target, url } = yield* begun()
    const wrong = yield* Effect.flip(
      Upload.resume({ target, url, metadata }, source, { ...Scene.options, chunkSize: 0 })
    )
    assert.strictEqual(wrong._tag, "InvalidRequest")
    assert.deepStrictEqual(server.requests, [])
  })
})
