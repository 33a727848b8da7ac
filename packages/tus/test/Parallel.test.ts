import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import { UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"
import { assert, layer, Clients, type Fault, Scene, ScriptedTus, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(4 * 1024 * 1024 + 5)

const start = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault> = [], parallel = 4) {
  const { server, target } = yield* Scene.make(faults)
  const events = Upload.events(target, UploadSource.fromBytes(bytes), { ...Scene.options, parallel })
  return { server, run: Stream.runCollect(events) }
})

const count = (events: ReadonlyArray<UploadEvent>, tag: UploadEvent["_tag"]) =>
  events.filter(({ _tag }) => _tag === tag).length

layer(Clients.undici)("Upload in parts", (it) => {
  it.effect("sends parts side by side and puts them together", function* () {
    const { run, server } = yield* start()
    const events = yield* run
    assert.strictEqual(server.partials(), 4)
    assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
    assert.strictEqual(count(events, "PartCompleted"), 4)
    assert.deepInclude(events.at(-1), { _tag: "Completed", length: BigInt(bytes.length) })
    const progress = events.findLast((event) => event._tag === "Progress")
    assert.deepInclude(progress, { acknowledged: BigInt(bytes.length), total: BigInt(bytes.length) })
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
    yield* Upload.run(target, UploadSource.fromBytes(bytes), { ...Scene.options, parallel })
    assert.isTrue([...server.uploads.values()].at(-1)?.bytes.equals(bytes))
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
    assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
    assert.strictEqual(server.log.filter((line) => line === "FINAL 201").length, 1)
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
    const source = UploadSource.make({ size: 9n * 1024n * 1024n, bytes: () => Stream.die("no byte may be asked for") })
    const error = yield* Effect.flip(Upload.run(server.target, source, { ...Scene.options, parallel: 9 }))
    assert.strictEqual(error._tag, "InvalidRequest")
    const counts = ["POST", "PATCH", "DELETE"].map((method) => server.requests.filter((one) => one === method).length)
    assert.deepStrictEqual(counts, [9, 0, 9])
  })

  it.effect("a small source has no parts", function* () {
    const { server, target } = yield* Scene.make()
    const small = UploadSource.fromBytes(bytes.subarray(0, 1_900_000))
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
    yield* Upload.run(server.target, UploadSource.fromBytes(bytes), { ...Scene.options, parallel })
    assert.isTrue([...carrying].every((connection) => before.has(connection)))
    assert.isAtMost(before.size, parallel)
  })
})
