import { UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Context, Effect, FileSystem, Layer, Option, Stream } from "effect"
import { HttpClient } from "effect/http"
import * as FilePieces from "../src/internal/filePieces.ts"
import { assert, layer, test, Clients, Draw, type Fault, Scene, TusServer, Upload } from "./utils/index.ts"

const mebi = 1024 * 1024
const bytes = Scene.content(12 * mebi + 17)

const source = Draw.file(bytes)

/** Uploads the source with this client, and answers the memory of each piece that was given to it. */
const memories = (
  client: HttpClient.HttpClient,
  settings: Partial<Upload.Options> = {},
  faults: ReadonlyArray<Fault> = [],
  onRequest: (given: ReadonlyArray<ArrayBufferLike>) => void = () => undefined
) =>
  Effect.gen(function* () {
    const file = yield* source
    // Pieces grow while they are taken fast, and only large ones are worth it: however busy the machine is.
    const still = Object.assign(Object.create(yield* Clock.Clock), { currentTimeMillisUnsafe: () => 0 })
    const given: Array<ArrayBufferLike> = []
    const seen: UploadSource.Replayable = {
      ...file,
      bytes: (start, end) => {
        onRequest(given)
        return file.bytes(start, end).pipe(
          Stream.provideService(Clock.Clock, still),
          Stream.tap((piece) => Effect.sync(() => void given.push(piece.buffer)))
        )
      }
    }
    const { server, target } = yield* Scene.make(faults)
    yield* Effect.provideService(
      Upload.run(target, seen, { ...Scene.options, ...settings }),
      HttpClient.HttpClient,
      client
    )
    assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
    return given
  }).pipe(Effect.scoped)

/** Memory that was given to a later piece is empty under its old name. */
const emptied = (given: ReadonlyArray<ArrayBufferLike>) => given.filter(({ byteLength }) => byteLength === 0).length

layer(NodeFileSystem.layer)("the pieces of a file", (it) => {
  it.effect("have memory of their own with every client that nobody registered", function* () {
    for (const [name, client] of Object.entries(Clients.beneath)) {
      const http = Context.get(yield* Layer.build(client), HttpClient.HttpClient)
      for (const settings of name === "undici" ? [{}, { parallel: 2 }] : [{}]) {
        const given = yield* memories(http, settings)
        assert.strictEqual(emptied(given), 0)
        assert.strictEqual(new Set(given).size, given.length)
      }
    }
  })

  it.effect("reuse memory with exactly the registered client", Clients.registered, function* () {
    const client = yield* HttpClient.HttpClient
    for (const settings of [{}, { chunkSize: 8 * mebi }]) {
      assert.isAbove(emptied(yield* memories(client, settings)), 0)
    }
    const made = HttpClient.mapRequest(client, (request) => request)
    assert.strictEqual(emptied(yield* memories(made)), 0)
  })

  it.effect("are left to whoever may still hold them when their request failed", Clients.registered, function* () {
    let requests = 0
    let left: ReadonlyArray<ArrayBufferLike> = []
    const lost: Fault = { _tag: "LostAnswer", method: "PATCH" }
    yield* memories(yield* HttpClient.HttpClient, { chunkSize: 8 * mebi }, [lost], (given) => {
      if (++requests === 2) left = given.filter(({ byteLength }) => byteLength > 0)
    })
    assert.isAbove(left.length, 4)
    assert.strictEqual(emptied(left), 0)
  })

  test("keep their bytes while they may be on their way: the last eight of a request", () => {
    const memory: Array<ArrayBuffer> = []
    const given: Array<ArrayBuffer> = []
    for (let piece = 0; piece < 40; piece++) {
      memory.push(FilePieces.take(memory, 1024))
      given.push(...memory.slice(-1))
      assert.strictEqual(emptied(given.slice(-8)), 0)
      assert.strictEqual(emptied(given), Math.max(0, given.length - 8))
    }
  })

  it.effect("a range begins with pieces of the size that the last one came to", function* () {
    const file = yield* source
    const [first] = yield* Stream.runCollect(file.bytes(0n, 8n * BigInt(mebi)))
    const [second] = yield* Stream.runCollect(file.bytes(8n * BigInt(mebi), file.size))
    assert.strictEqual(first?.length, 64 * 1024)
    assert.isAbove(second?.length ?? 0, 64 * 1024)
  })

  it.effect("have at least 16 KiB, with any number of readers, however slow", function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(yield* Draw.path(bytes))
    const clock = Object.assign(Object.create(yield* Clock.Clock), { now: 0 })
    clock.currentTimeMillisUnsafe = () => clock.now
    for (const others of [0, 1, 40, 41, 42, 43, 700, 1001, 3000]) {
      yield* Effect.gen(function* () {
        for (let other = 0; other < others; other++) yield* FilePieces.reader(file, { size: FilePieces.smallest })
        const { next } = yield* FilePieces.reader(file, { size: FilePieces.smallest })
        for (const pause of [1, 1, 1, 1, 1, 1, 5000, 5000, 1, 5000, 5000, 5000, 5000]) {
          const piece = Option.getOrThrow(yield* next(0n, BigInt(bytes.length)))
          assert.isAtLeast(piece.length, 16 * 1024)
          clock.now += pause
        }
      }).pipe(Effect.scoped, Effect.provideService(Clock.Clock, clock))
    }
  })

  it.effect("the pieces of a reader grow to 1 MiB when 3000 other readers have ended", function* () {
    const fs = yield* FileSystem.FileSystem
    const reader = FilePieces.reader(yield* fs.open(yield* Draw.path(bytes)), { size: FilePieces.smallest })
    for (let other = 0; other < 3000; other++) yield* Effect.scoped(reader)
    const still = Object.assign(Object.create(yield* Clock.Clock), { currentTimeMillisUnsafe: () => 0 })
    const { next } = yield* Effect.provideService(reader, Clock.Clock, still)
    let length = 0
    for (let piece = 0; piece < 8; piece++) length = Option.getOrThrow(yield* next(0n, BigInt(mebi))).length
    assert.strictEqual(length, mebi)
  })

  it.effect("no byte of a file that was replaced is given out, however many pieces its first range has", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Draw.path(bytes)
    const file = yield* UploadSource.fromPath(path)
    yield* fs.writeFile(path, bytes.toReversed())
    yield* fs.utimes(path, new Date(0), new Date(0))
    const open = yield* fs.open(path)
    // So many readers that the range has more than one piece.
    for (let other = 0; other < 1000; other++) yield* FilePieces.reader(open, { size: FilePieces.smallest })
    const given: Array<Uint8Array> = []
    for (const end of [64n * 1024n, BigInt(bytes.length)]) {
      const reading = Stream.runForEach(file.bytes(0n, end), (piece) => Effect.sync(() => given.push(piece)))
      assert.strictEqual((yield* Effect.flip(reading)).kind, "Changed")
    }
    assert.isEmpty(given)
  })

  it.effect("a small file that changed is refused before the creation", Clients.undici, function* () {
    const fs = yield* FileSystem.FileSystem
    const content = Scene.content(100)
    for (const change of [new Uint8Array(0), Scene.content(99), Scene.content(101), content.toReversed()]) {
      const path = yield* Draw.path(content)
      yield* fs.utimes(path, new Date(0), new Date(0))
      const changed = yield* UploadSource.fromPath(path)
      yield* fs.writeFile(path, change)
      const { server, target } = yield* Scene.make()
      const error = yield* Effect.flip(Upload.run(target, changed, Scene.options))
      assert.strictEqual(error._tag === "SourceFailed" ? error.kind : error._tag, "Changed")
      assert.strictEqual(server.created.length, 0)
    }
  })
})
