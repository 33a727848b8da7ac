/**
 * Streams of Node as sources of uploads.
 */
import { NodeSource } from "@assembly-effect/node"
import type { SourceFailed } from "@assembly-effect/tus/UploadSource"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { PassThrough, Readable } from "node:stream"
import { createGunzip, createGzip } from "node:zlib"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => (index * 31 + (index >> 8)) % 251)

const pieces = (size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

const readAll = ({ stream }: { readonly stream: Stream.Stream<Uint8Array, SourceFailed> }) =>
  Stream.mkUint8Array(stream)

describe("NodeSource.fromReadable", () => {
  it.effect("emits the bytes of a stream, and knows their number if it is given", function* () {
    const source = NodeSource.fromReadable(() => Readable.from(pieces(7000)), { size: 1_000_000n })
    assert.strictEqual(source._tag, "OneShot")
    assert.strictEqual(source.size, 1_000_000n)
    assert.strictEqual(sha256(yield* readAll(source)), sha256(bytes))
  })

  it.effect("emits the bytes of a pipeline, and destroys it at the end", function* () {
    const last = createGunzip()
    const source = NodeSource.fromReadable(() => Readable.from(pieces(7000)).pipe(createGzip()).pipe(last))
    assert.strictEqual(sha256(yield* readAll(source)), sha256(bytes))
    assert.isTrue(last.destroyed)
  })

  it.effect("reads no faster than it is read", function* () {
    let made = 0
    const readable = new Readable({
      highWaterMark: 65_536,
      // It fills its buffer at each read, and never ends.
      read() {
        made += 65_536
        this.push(new Uint8Array(65_536))
      }
    })
    const { stream } = NodeSource.fromReadable(() => readable)
    const taken = yield* Stream.runCollect(Stream.take(stream, 3))
    assert.strictEqual(taken.length, 3)
    // What was taken, and what the buffers of Node hold.
    assert.isAtMost(made, 8 * 65_536)
    assert.isTrue(readable.destroyed)
  })

  it.effect("destroys a stream that is waited for when it is interrupted", function* () {
    const waits = yield* Deferred.make<void>()
    const readable = new Readable({ read: () => void Deferred.doneUnsafe(waits, Effect.void) })
    const fiber = yield* Effect.forkChild(readAll(NodeSource.fromReadable(() => readable)))
    yield* Deferred.await(waits)
    yield* Fiber.interrupt(fiber)
    assert.isTrue(readable.destroyed)
  })

  const ended = new PassThrough()
  ended.end()
  ended.resume()
  const failed = new PassThrough().on("error", () => undefined)
  failed.destroy(new Error("the disk was full"))

  const failures: Readonly<Record<string, readonly [evaluate: () => Readable, problem: string]>> = {
    "that fails": [
      () =>
        new Readable({
          read() {
            this.destroy(new Error("the disk is gone"))
          }
        }),
      "the disk is gone"
    ],
    "of a missing file": [() => createReadStream("/no/such/file"), "ENOENT"],
    "that closes early": [
      () => {
        const through = new PassThrough()
        through.write("a")
        setImmediate(() => through.destroy())
        return through
      },
      "Premature close"
    ],
    "that was read by another upload": [
      () => {
        const used = Readable.from(pieces(7000))
        used.read()
        return used
      },
      "already read"
    ],
    "that has failed": [() => failed, "the disk was full"],
    "that has ended": [() => ended, "already ended"],
    "that was destroyed": [() => new PassThrough().destroy(), "already ended"],
    "that is none": [() => 5 as unknown as Readable, "no Readable"],
    "that is null": [() => null as unknown as Readable, "no Readable"],
    "that cannot be made": [
      () => {
        throw new Error("no stream")
      },
      "no stream"
    ]
  }
  for (const [name, [evaluate, problem]] of Object.entries(failures)) {
    it.effect(`is SourceFailed for a stream ${name}`, function* () {
      const error = yield* Effect.flip(readAll(NodeSource.fromReadable(evaluate)))
      assert.strictEqual(error.kind, "Unreadable")
      assert.include(error.description, problem)
    })
  }

  it.effect("is SourceFailed when it is read for the second time", function* () {
    for (const readable of [Readable.from(pieces(7000)), Readable.from([])]) {
      const source = NodeSource.fromReadable(() => readable)
      yield* readAll(source)
      assert.match((yield* Effect.flip(readAll(source))).description, /already (read|ended)/)
    }
  })

  it.effect("makes the stream only when it is read", function* () {
    let made = 0
    const source = NodeSource.fromReadable(() => {
      made++
      return Readable.from(pieces(7000))
    })
    yield* Effect.yieldNow
    assert.strictEqual(made, 0)
    yield* readAll(source)
    assert.strictEqual(made, 1)
  })
})
