/**
 * The service in front of uploads: what it does over HTTP, and what a test layer answers without it.
 */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as AssemblyUploadEvent from "@assembly-effect/tus/AssemblyUploadEvent"
import * as TusError from "@assembly-effect/tus/TusError"
import * as Uploader from "@assembly-effect/tus/Uploader"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Scene from "./utils/Scene.ts"

const { metadata } = Scene.options
const target = UploadTarget.make({
  tusUrl: "https://tus.example.com/",
  assemblySslUrl: "https://api.example.com/assemblies/1"
})
const params = { steps: { ":original": { robot: "/upload/handle" } } }
const bytes = Scene.content(10)

layer(Uploader.layerTest())("A test layer without answers", (it) => {
  it.effect("succeeds, and reads the source", () =>
    Effect.gen(function* () {
      const events = yield* Stream.runCollect(
        Uploader.events(yield* target, UploadSource.fromBytes(bytes), { metadata })
      )
      assert.deepStrictEqual(
        events.map(({ _tag }) => _tag),
        ["Created", "Progress", "Completed"]
      )
      const { length, url } = yield* Uploader.run(yield* target, UploadSource.fromBytes(bytes), { metadata })
      assert.strictEqual(length, 10n)
      assert.isTrue(UploadTarget.isUploadUrl(url))

      const failure = new UploadSource.SourceFailed({ kind: "Unreadable", description: "a broken disk" })
      const broken = UploadSource.make({ size: 10n, bytes: () => Stream.fail(failure) })
      assert.deepStrictEqual(yield* Effect.flip(Uploader.run(yield* target, broken, { metadata })), failure)
    })
  )

  it.effect("completes a job, and checks its options", () =>
    Effect.gen(function* () {
      const files = [
        { source: UploadSource.fromBytes(bytes), filename: "a.bin" },
        { source: Effect.succeed(UploadSource.fromStream(Stream.make(bytes, bytes))), filename: "b.bin" }
      ]
      const events = yield* Stream.runCollect(Uploader.assemblyEvents({ params, files }))
      assert.deepStrictEqual(
        events.filter(AssemblyUploadEvent.$is("FileCompleted")).map(({ length }) => length),
        [10n, 20n]
      )
      assert.strictEqual((yield* Uploader.runAssembly({ params, files: files.slice(0, 1) })).ok, "ASSEMBLY_COMPLETED")
      const refused = yield* Effect.flip(Uploader.runAssembly({ params, files: [] }))
      assert.strictEqual(refused.message, "AssemblyUpload: files: Expected at least one file")
      const wrong = Uploader.run(yield* target, UploadSource.fromBytes(bytes), { metadata, chunkSize: 0 })
      assert.strictEqual((yield* Effect.flip(wrong))._tag, "InvalidRequest")
    })
  )
})

const gone = new TusError.UploadGone({ request: "append", host: "tus.example.com", status: 404, description: "gone" })

layer(
  Uploader.layerTest({
    events: ({ options, source, target: to }) =>
      options.metadata.filename === "gone.bin"
        ? Stream.fail(gone)
        : Stream.concat(Stream.succeed(UploadEvent.Restarted({ reason: "a test" })), Uploader.uploaded(to, source))
  })
)("A test layer with answers", (it) => {
  it.effect("tells the events and the failures that the test says", () =>
    Effect.gen(function* () {
      const source = UploadSource.fromBytes(bytes)
      const events = yield* Stream.runCollect(Uploader.events(yield* target, source, { metadata }))
      assert.strictEqual(events[0]?._tag, "Restarted")
      const failed = Uploader.run(yield* target, source, { metadata: { ...metadata, filename: "gone.bin" } })
      assert.strictEqual(yield* Effect.flip(failed), gone)
    })
  )
})

/** Nobody asks it for an operation. */
const client = AssemblyClient.layerTest([])

layer(Uploader.layer.pipe(Layer.provide([NodeHttpClient.layerUndici, client])), { excludeTestServices: true })(
  "The layer of a program",
  (it) => {
    it.effect("uploads", () =>
      Effect.gen(function* () {
        const { server, target: to } = yield* Scene.make()
        const { length } = yield* Uploader.run(to, UploadSource.fromBytes(Scene.content(700_000)), Scene.options)
        assert.strictEqual(length, 700_000n)
        assert.strictEqual(server.created.length, 1)
      })
    )
  }
)
