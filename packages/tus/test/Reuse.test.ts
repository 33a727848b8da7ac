/** Options, metadata and sources that a program changes, wraps or uses again. */
import { Upload, UploadSource } from "@assembly-effect/tus"
import { Effect, Layer, Stream } from "effect"
import { assert, layer, Clients, Scene } from "./utils/index.ts"

const bytes = Scene.content(1000)

layer(Layer.provideMerge(Upload.layer, Clients.undici))("An upload", (it) => {
  it.effect("whose metadata object was changed since another upload: sends the current name", function* () {
    const { server, target } = yield* Scene.make()
    const metadata = { filename: "", fieldname: "file" }
    for (const name of ["a.bin", "b.bin"]) {
      metadata.filename = name
      yield* Upload.run(target, UploadSource.fromBytes(bytes), { metadata })
    }
    const names = server.created.map((upload) => upload.metadata["filename"])
    assert.deepStrictEqual(names, ["a.bin", "b.bin"])
  })

  it.effect("whose valid options object became invalid: fails with InvalidRequest, and creates nothing", function* () {
    const { server, target } = yield* Scene.make()
    const options = { metadata: Scene.options.metadata, chunkSize: 5000 }
    yield* Upload.run(target, UploadSource.fromBytes(bytes), options)
    options.chunkSize = -1
    const error = yield* Effect.flip(Upload.run(target, UploadSource.fromBytes(bytes), options))
    assert.strictEqual(error.message, "Upload: chunkSize: Expected a whole number of at least 1")
    assert.strictEqual(server.created.length, 1)
  })

  it.effect.each([null, undefined, 5, {}, { metadata: 1 }, { metadata: [] }])(
    "with the options %j: InvalidRequest, and no request",
    function* (options) {
      const { server, target } = yield* Scene.make()
      // A JavaScript program may give any value.
      const error = yield* Effect.flip(Upload.run(target, UploadSource.fromBytes(bytes), options as never))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.deepStrictEqual(server.requests, [])
    }
  )

  it.effect.each([1000, 300_000])("of %i bytes whose `bytes` were replaced: stores the new ones", function* (size) {
    const { server, target } = yield* Scene.make()
    const plain = UploadSource.fromBytes(Scene.content(size))
    const flipped: UploadSource.Replayable = {
      ...plain,
      bytes: (start, end) => Stream.map(plain.bytes(start, end), (piece) => piece.map((byte) => byte ^ 1))
    }
    yield* Upload.run(target, flipped, Scene.options)
    const copy = yield* Scene.make()
    yield* Upload.run(copy.target, UploadSource.fromBytes(Scene.content(size).map((byte) => byte ^ 1)), Scene.options)
    assert.strictEqual(yield* Scene.stored(server), yield* Scene.stored(copy.server))
  })

  it.effect.each([1000, 300_000])("of %i bytes that give nothing: Stalled after stallTimeout", function* (size) {
    const { target } = yield* Scene.make()
    const source = UploadSource.make({ size: BigInt(size), bytes: () => Stream.never })
    const options = { ...Scene.options, stallTimeout: "50 millis", maxRetries: 0 } as const
    assert.strictEqual((yield* Effect.flip(Upload.run(target, source, options)))._tag, "Stalled")
  })
})
