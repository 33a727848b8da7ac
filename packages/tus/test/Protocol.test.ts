/**
 * The same protocol against two servers. Every upload is checked by the SHA-256 of what the server holds.
 */
import { Tus, UploadSource } from "@assembly-effect/tus"
import type { UploadTarget } from "@assembly-effect/tus/UploadTarget"
import { Effect, Stream } from "effect"
import { assert, layer, Clients, Scene, Servers, TusServer, Upload } from "./utils/index.ts"

const chunkSize = 100
// A few times the chunk's size, and one byte off.
const sizes = [0, ...[1, 3].flatMap((chunks) => [-1, 0, 1].map((more) => chunks * chunkSize + more))]

const sources: Readonly<Record<string, (bytes: Uint8Array) => UploadSource.UploadSource>> = {
  "read again": UploadSource.fromBytes,
  "that come once, of known length": (bytes) =>
    UploadSource.fromStream(Scene.pieces(bytes, 7), { size: BigInt(bytes.length) }),
  "that come once, of deferred length": (bytes) => UploadSource.fromStream(Scene.pieces(bytes, 33)),
  "that come once in whole chunks, of deferred length": (bytes) =>
    UploadSource.fromStream(Scene.pieces(bytes, chunkSize))
}

/** How many bodies an upload has besides the one of its creation. */
const patches = (size: number) => (size <= chunkSize ? 0 : Math.ceil(size / chunkSize))

const arrives = Effect.fnUntraced(function* (
  { created, sha256, target }: Servers.Place,
  bytes: Uint8Array,
  source: UploadSource.UploadSource,
  options?: Partial<Upload.Options>
) {
  const { length } = yield* Upload.run(target, source, { ...Scene.options, ...options })
  assert.strictEqual(length, BigInt(bytes.length))
  assert.strictEqual(yield* sha256, TusServer.sha256(bytes))
  assert.strictEqual(yield* created, 1)
})

const metadata = { filename: "a.bin", fieldname: "file" }

/** An upload that the protocol alone has begun. */
const begin = (target: UploadTarget, size: number, body?: Uint8Array) =>
  Tus.create(target, { _tag: "Fixed", length: BigInt(size), metadata, body })

for (const [name, place] of Object.entries(Servers.places)) {
  layer(Clients.undici)(`with ${name}`, (it) => {
    for (const size of sizes) {
      const bytes = Scene.content(size)
      for (const [kind, make] of Object.entries(sources)) {
        it.effect(`${size} bytes ${kind}`, function* () {
          yield* arrives(yield* place, bytes, make(bytes), { chunkSize })
        })
        it.effect(`${size} bytes ${kind}, the last answer lost`, function* () {
          const here = yield* place
          // What fits into one chunk comes with the creation.
          if (size <= chunkSize) Servers.loseAnswer(here, "POST", 0)
          else Servers.loseAnswer(here, "PATCH", patches(size) - 1)
          yield* arrives(here, bytes, make(bytes), { chunkSize })
          assert.deepStrictEqual(here.faults, [], "the answer was lost")
          // It was the last: what follows only asks.
          const last = size <= chunkSize ? here.requests.indexOf("POST") : here.requests.lastIndexOf("PATCH")
          assert.includeMembers(["HEAD", "GET"], here.requests.slice(last + 1))
          assert.strictEqual(here.requests.filter((method) => method === "PATCH").length, patches(size))
        })
      }
    }

    it.effect("a creation brings the first bytes along", function* () {
      const bytes = Scene.content(1000)
      const { sha256, target } = yield* place
      const { offset, url } = yield* begin(target, 1000, bytes.subarray(0, 400))
      assert.strictEqual(offset, 400n)
      assert.deepInclude(yield* Tus.offset(url), { offset: 400n, length: 1000n })
      assert.strictEqual(yield* Tus.append(url, { offset: 400n, body: bytes.subarray(400) }), 1000n)
      assert.strictEqual(yield* sha256, TusServer.sha256(bytes))
    })

    it.effect("a deferred length is told by a later append", function* () {
      const { target } = yield* place
      const { url } = yield* Tus.create(target, { _tag: "Deferred", metadata })
      yield* Tus.append(url, { offset: 0n, body: new Uint8Array(3) })
      assert.isUndefined((yield* Tus.offset(url)).length)
      yield* Tus.append(url, { offset: 3n, body: new Uint8Array(2), length: 5n })
      assert.deepInclude(yield* Tus.offset(url), { offset: 5n, length: 5n })
    })

    it.effect("an upload with checksums arrives, whether the server offers them or not", function* () {
      const bytes = Scene.content(300_001)
      const options = { checksum: "sha256", chunkSize: 100_000 } as const
      yield* arrives(yield* place, bytes, UploadSource.fromBytes(bytes), options)
    })

    it.effect("bytes at another offset are a conflict", function* () {
      const { target } = yield* place
      const { url } = yield* begin(target, 10)
      const error = yield* Effect.flip(Tus.append(url, { offset: 4n, body: new Uint8Array(1) }))
      assert.deepInclude(error, { _tag: "OffsetConflict", request: "append", status: 409 })
    })

    it.effect("knows nothing of an upload that was terminated", function* () {
      const { target } = yield* place
      const { url } = yield* begin(target, 10, new Uint8Array(5))
      yield* Tus.terminate(url)
      const requests = {
        offset: Tus.offset(url),
        append: Tus.append(url, { offset: 5n, body: new Uint8Array(5) }),
        terminate: Tus.terminate(url)
      }
      for (const [request, run] of Object.entries(requests)) {
        const error = yield* Effect.flip(run)
        assert.strictEqual(error._tag === "UploadGone" ? error.request : error._tag, request)
      }
    })
  })
}

// The independent server knows no concatenation, gives what it has of an upload that is not finished, and its process
// dies now and then of a download: it closes the stream of its answer twice.
layer(Clients.undici)("with the emulator alone", (it) => {
  const place = Servers.places["the emulator"]

  it.effect("gives the bytes of a finished upload back", function* () {
    const bytes = Scene.content(300_000)
    const { target } = yield* place
    const { url } = yield* Upload.run(target, UploadSource.fromBytes(bytes), Scene.options)
    const downloaded = yield* Stream.mkUint8Array(Tus.download(url))
    assert.strictEqual(TusServer.sha256(downloaded), TusServer.sha256(bytes))
  })

  it.effect("an upload that is not finished, or gone, cannot be downloaded", function* () {
    const { target } = yield* place
    const { url } = yield* begin(target, 10, new Uint8Array(5))
    const download = Effect.flip(Stream.runDrain(Tus.download(url)))
    assert.deepInclude(yield* download, { _tag: "UploadRefused", request: "download", status: 400 })
    yield* Tus.terminate(url)
    assert.deepInclude(yield* download, { _tag: "UploadGone", request: "download", status: 404 })
  })

  const bytes = Scene.content(4 * 1024 * 1024 + 5)

  it.effect("a concatenation puts parts together into one file", function* () {
    yield* arrives(yield* place, bytes, UploadSource.fromBytes(bytes), { parallel: 4 })
  })
})
