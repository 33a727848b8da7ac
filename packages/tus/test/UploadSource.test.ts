import { UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Cause, Effect, Exit, FileSystem, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { runInNewContext } from "node:vm"
import { assert, layer, test, vi, Clients, Draw, Scene, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(300_000)

const content = Scene.content(3 * 1024 * 1024)
const whole = BigInt(content.length)

/** A Blob whose stream gives pieces of another size: those of workerd have 4 KiB, one in Node's memory comes as a whole. */
const runtimeBlob = (part: Uint8Array<ArrayBuffer>, pieceSize: number): Blob =>
  Object.assign(new Blob([part]), {
    slice: (start?: number, end?: number) => runtimeBlob(part.subarray(start, end), pieceSize),
    stream: () => Stream.toReadableStream(Stream.fromIterable(chunked(part, pieceSize)))
  })

const chunked = (bytesOfAll: Uint8Array<ArrayBuffer>, size: number) =>
  Array.from({ length: Math.ceil(bytesOfAll.length / size) }, (_, at) => bytesOfAll.slice(at * size, (at + 1) * size))

const collect = (source: UploadSource.Replayable, start: number, end: number) =>
  Effect.map(Stream.mkUint8Array(source.bytes(BigInt(start), BigInt(end))), TusServer.sha256)

const file = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Draw.path(bytes)
  return { fs, path, source: yield* UploadSource.fromPath(path) }
})

const own = (announced: number, held: number) =>
  UploadSource.make({
    size: BigInt(announced),
    bytes: (offset) => Scene.pieces(Scene.content(held).subarray(Number(offset)), 4096)
  })

layer(Layer.merge(NodeFileSystem.layer, Clients.undici))("UploadSource", (it) => {
  it.effect("every replayable source gives the range that is asked for", function* () {
    const sources = {
      bytes: UploadSource.fromBytes(bytes),
      blob: UploadSource.fromBlob(new Blob([bytes])),
      path: (yield* file).source,
      own: own(bytes.length, bytes.length)
    }
    for (const [name, source] of Object.entries(sources)) {
      for (const range of ["0-300000", "0-0", "0-1", "4095-4097", "65535-200001", "299999-300000", "300000-300000"]) {
        const [start = 0, end = 0] = range.split("-").map(Number)
        const expected = TusServer.sha256(bytes.subarray(start, end))
        assert.strictEqual(yield* collect(source, start, end), expected, `${name} ${range}`)
      }
    }
  })

  it.effect("a Blob comes in pieces of a sensible size, whatever its own stream gives", function* () {
    for (const size of [4096, content.length]) {
      const pieces = yield* Stream.runCollect(UploadSource.fromBlob(runtimeBlob(content, size)).bytes(17n, whole))
      assert.strictEqual(TusServer.sha256(Buffer.concat(pieces)), TusServer.sha256(content.subarray(17)))
      const sizes = pieces.map(({ length }) => length)
      assert.isAtMost(Math.max(...sizes), 256 * 1024)
      assert.isAtMost(sizes.length, Math.ceil(content.length / (256 * 1024)))
    }
  })

  it.effect.each([
    ["a shorter slice", (start: number, end: number) => content.slice(start, end - 1).buffer],
    ["a longer slice", (start: number, end: number) => content.slice(start, end + 1).buffer],
    ["a number", (start: number, end: number) => end - start],
    ["16-bit numbers", (start: number, end: number) => new Uint16Array(end - start)],
    ["nothing", () => undefined],
    ["gone", () => Promise.reject(new DOMException("gone", "NotReadableError"))]
  ] as const)("a Blob whose slice is %s fails with SourceFailed (Changed)", function* ([, part]) {
    const lying = {
      size: content.length,
      slice: (start: number, end: number) => ({ arrayBuffer: async () => part(start, end) }),
      arrayBuffer: () => Promise.resolve(content.buffer)
    } as unknown as Blob
    const error = yield* Effect.flip(Stream.runDrain(UploadSource.fromBlob(lying).bytes(0n, whole)))
    assert.deepInclude(error, { _tag: "SourceFailed", kind: "Changed" })
  })

  it.effect("the identity of a file changes with it, that of bytes with the content", function* () {
    const { fs, path, source } = yield* file
    assert.strictEqual(yield* (yield* UploadSource.fromPath(path)).identity, yield* source.identity)
    yield* fs.utimes(path, 1, 1)
    assert.notStrictEqual(yield* (yield* UploadSource.fromPath(path)).identity, yield* source.identity)
    assert.strictEqual(yield* UploadSource.fromBytes(bytes).identity, `sha256 ${TusServer.sha256(bytes)}`)
  })

  it.effect("by content it is the SHA-256 over the digests of pieces of 1 MiB, however it is read", function* () {
    const large = Scene.content(2 * 1024 * 1024 + 17)
    const digest = (part: Uint8Array) => createHash("sha256").update(part).digest()
    const expected = digest(
      Buffer.concat([0, 1, 2].map((mebi) => digest(large.subarray(mebi << 20, (mebi + 1) << 20))))
    ).toString("hex")
    for (const size of [1000, 1 << 20, 1 << 22]) {
      const source = UploadSource.make({
        size: BigInt(large.length),
        bytes: (offset) => Scene.pieces(large.subarray(Number(offset)), size)
      })
      const identity = yield* UploadSource.identifiedByContent(source).identity
      assert.strictEqual(identity, `sha256/1MiB ${expected}`)
    }
  })

  it.effect.each([
    ["ends early", own(300_000, 299_999), "TooShort"],
    ["ends late", own(300_000, 300_001), "TooLong"],
    ["is empty", own(300_000, 0), "TooShort"],
    ["is announced as empty, and is not", own(0, 1), "TooLong"],
    ["small, ends early", own(100, 99), "TooShort"],
    ["small, ends late", own(100, 101), "TooLong"],
    ["one-shot, ends early", UploadSource.fromStream(Scene.pieces(bytes, 5000), { size: 300_001n }), "TooShort"],
    ["one-shot, ends late", UploadSource.fromStream(Scene.pieces(bytes, 5000), { size: 299_999n }), "TooLong"],
    ["one-shot, fails", UploadSource.fromStream(Stream.fail("disk"), { size: 300_000n }), "Unreadable"]
  ] as const)("a source that %s is a typed error and no network failure", function* ([, source, kind]) {
    const { server, target } = yield* Scene.make()
    const error = yield* Effect.flip(Upload.run(target, source, Scene.options))
    assert.deepInclude(error, { _tag: "SourceFailed", kind })
    assert.isAtMost(server.log.length, 2)
    assert.notInclude(server.log, "HEAD 200")
  })

  it.effect.each([
    ["shrinks", (fs: FileSystem.FileSystem, path: string) => fs.truncate(path, 250_000)],
    ["grows", (fs: FileSystem.FileSystem, path: string) => fs.writeFile(path, bytes, { flag: "a" })],
    ["changes", (fs: FileSystem.FileSystem, path: string) => fs.utimes(path, 1, 1)],
    ["goes", (fs: FileSystem.FileSystem, path: string) => fs.remove(path)]
  ] as const)("a file that %s before its turn, or between two requests, is noticed", function* ([, change]) {
    const { fs, path, source } = yield* file
    const { target } = yield* Scene.make()
    let changed = false
    const error = yield* Upload.events(target, source, { ...Scene.options, chunkSize: 100_000 }).pipe(
      Stream.tap((event) => {
        if (changed || event._tag !== "Progress" || event.acknowledged < 100_000n) return Effect.void
        changed = true
        return change(fs, path)
      }),
      Stream.runDrain,
      Effect.flip
    )
    assert.strictEqual(error._tag, "SourceFailed")
  })

  for (const checksum of [undefined, "sha256"] as const) {
    it.effect(`an empty file that grows before its upload is noticed, ${checksum ?? "no"} checksum`, function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Draw.path(new Uint8Array(0))
      const source = yield* UploadSource.fromPath(path)
      yield* fs.writeFile(path, bytes)
      const { server, target } = yield* Scene.make()
      server.checksums = ["sha256"]
      const error = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, checksum }))
      assert.deepInclude(error, { _tag: "SourceFailed", kind: "Changed" })
      assert.isEmpty(server.created)
    })
  }

  it.effect("of a file that does not exist fails with its path and what to do", function* () {
    const error = yield* Effect.flip(UploadSource.fromPath("letter.txt"))
    const message = "the upload source failed: letter.txt: no such file; check the source, and try again"
    assert.strictEqual(error.message, message)
  })

  it.effect("a file that changes while it is read never becomes a whole upload", function* () {
    const { fs, path } = yield* file
    const source = yield* UploadSource.fromPath(path)
    const reading = Stream.runForEach(source.bytes(0n, source.size), () => fs.utimes(path, 1, 1))
    const error = yield* Effect.flip(reading)
    assert.deepInclude(error, { _tag: "SourceFailed", kind: "Changed" })
  })

  it.effect("a file that another one of its size and time replaces is not read on", function* () {
    const { fs, path } = yield* file
    yield* fs.utimes(path, 1000, 1000)
    const source = yield* UploadSource.fromPath(path)
    const other = `${path}.other`
    yield* fs.writeFile(other, new Uint8Array(Number(source.size)))
    yield* fs.utimes(other, 1000, 1000)
    yield* fs.rename(other, path)
    const error = yield* Effect.flip(Stream.runDrain(source.bytes(0n, source.size)))
    assert.deepInclude(error, { _tag: "SourceFailed", kind: "Changed" })
    const message = `the upload source failed: ${path} was replaced by another file; run the upload again when no process writes to the source`
    assert.strictEqual(error.message, message)
  })

  it.effect("a stream's own SourceFailed stays what it is", function* () {
    const failure = new UploadSource.SourceFailed({ kind: "Changed", description: "x" })
    const source = UploadSource.fromStream(Stream.fail(failure))
    assert.strictEqual(yield* Effect.flip(Stream.runDrain(source.stream)), failure)
  })

  it.effect("the SourceFailed of a second copy of this package stays what it is", function* () {
    vi.resetModules()
    const copy = yield* Effect.promise(() => import("@assembly-effect/tus/UploadSource"))
    const failure = new copy.SourceFailed({ kind: "Changed", description: "x" })
    assert.notInstanceOf(failure, UploadSource.SourceFailed)
    assert.strictEqual(UploadSource.failedWith(failure), failure)
  })

  test("an Error of another realm keeps its message", () => {
    const error = UploadSource.failedWith(runInNewContext("new Error('the disk is gone')"))
    assert.strictEqual(error.description, "the disk is gone")
  })

  it.effect.skipIf(!existsSync("/proc/self/status"))("a file of size 0 that has content is no source", function* () {
    const error = yield* Effect.flip(UploadSource.fromPath("/proc/self/status"))
    assert.deepInclude(error, { _tag: "SourceFailed", kind: "Unreadable" })
    assert.include(error.message, "its size is 0")
  })

  it.effect("a folder is no source", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempDirectoryScoped()
    assert.deepInclude(yield* Effect.flip(UploadSource.fromPath(path)), { _tag: "SourceFailed" })
  })
})

const defect = new Error("a bug in the source")

/** A source that ends like this after its first bytes, and how often it was opened. */
const broken = (end: Stream.Stream<never>) => {
  const seen = { opened: 0 }
  const bytesOf = (offset: bigint) =>
    Stream.suspend(() => {
      seen.opened++
      return Stream.concat(Scene.pieces(content.subarray(Number(offset), 700_000), 100_000), end)
    })
  return {
    seen,
    replayable: UploadSource.make({ size: whole, bytes: bytesOf }),
    oneShot: UploadSource.fromStream(bytesOf(0n), { size: whole })
  }
}

for (const [name, client] of Object.entries(Clients.beneath)) {
  layer(client)(`with ${name}, a source`, (it) => {
    for (const kind of ["replayable", "oneShot"] as const) {
      for (const checksum of [undefined, "sha256"] as const) {
        const title = `${kind === "oneShot" ? "that comes once " : ""}${checksum === undefined ? "" : "with checksums "}`
        it.effect(`${title}that dies is opened once, and dies`, function* () {
          const { server, target } = yield* Scene.make()
          server.checksums = ["sha256"]
          const { seen, ...sources } = broken(Stream.die(defect))
          const settings = { ...Scene.options, checksum, chunkSize: 500_000 }
          const exit = yield* Effect.exit(Upload.run(target, sources[kind], settings))
          assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === defect && Cause.hasDies(exit.cause))
          // Each request opens a source that can be read again.
          assert.strictEqual(seen.opened, kind === "replayable" ? 2 : 1)
          assert.notInclude(server.requests, "HEAD")
        })
      }

      it.effect(`(${kind}) that is interrupted interrupts the upload`, function* () {
        const { server, target } = yield* Scene.make()
        const { seen, ...sources } = broken(Stream.fromEffect(Effect.interrupt))
        const exit = yield* Effect.exit(Upload.run(target, sources[kind], Scene.options))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        assert.strictEqual(seen.opened, 1)
        assert.notInclude(server.requests, "HEAD")
      })
    }
  })
}
