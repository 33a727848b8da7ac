/**
 * `Upload` and `AssemblyUpload` without HTTP: what their test layers return.
 */
import { AssemblyUpload, AssemblyUploadEvent, TusError, UploadEvent, UploadSource } from "@assembly-effect/tus"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { Effect, Layer, Redacted, Stream } from "effect"
import { assert, layerTest, Scene, Tests } from "./utils/index.ts"

const { metadata } = Scene.options
const target = UploadTarget.make({
  tusUrl: "https://tus.example.com/",
  assemblySslUrl: "https://api.example.com/assemblies/1"
})
const params = { steps: { ":original": { robot: "/upload/handle" } } }
const bytes = Scene.content(10)

layerTest(Layer.merge(Upload.layerTest(), AssemblyUpload.layerTest()))("Test layers without an answer", (it) => {
  it.effect("Upload reads the source to its end and succeeds, or fails with the error of the source", function* () {
    const events = yield* Stream.runCollect(Upload.events(yield* target, UploadSource.fromBytes(bytes), { metadata }))
    assert.deepStrictEqual(Tests.pluck(events, "_tag"), ["Created", "Progress", "Completed"])
    const { length, url } = yield* Upload.run(yield* target, UploadSource.fromBytes(bytes), { metadata })
    assert.strictEqual(length, 10n)
    assert.isTrue(Redacted.isRedacted(url))

    const failure = new UploadSource.SourceFailed({ kind: "Unreadable", description: "a broken disk" })
    const broken = UploadSource.make({ size: 10n, bytes: () => Stream.fail(failure) })
    assert.deepStrictEqual(yield* Effect.flip(Upload.run(yield* target, broken, { metadata })), failure)
  })

  it.effect("AssemblyUpload completes a job, and refuses a job without files", function* () {
    const files = [
      { source: UploadSource.fromBytes(bytes), filename: "a.bin" },
      { source: Effect.succeed(UploadSource.fromStream(Stream.make(bytes, bytes))), filename: "b.bin" }
    ]
    const events = yield* Stream.runCollect(AssemblyUpload.events({ params, files }))
    assert.deepStrictEqual(Tests.pluck(events.filter(AssemblyUploadEvent.$is("FileCompleted")), "length"), [10n, 20n])
    assert.strictEqual((yield* AssemblyUpload.run({ params, files: files.slice(0, 1) })).ok, "ASSEMBLY_COMPLETED")
    const refused = yield* Effect.flip(AssemblyUpload.run({ params, files: [] }))
    assert.strictEqual(refused.message, "AssemblyUpload: files: Expected at least one file")
    for (const options of [null, 5, "a.jpg"]) {
      const none = yield* Effect.flip(AssemblyUpload.run(options as never))
      assert.strictEqual(none.message, "AssemblyUpload: Expected an object")
    }
    const wrong = Upload.run(yield* target, UploadSource.fromBytes(bytes), { metadata, chunkSize: 0 })
    assert.strictEqual((yield* Effect.flip(wrong))._tag, "InvalidRequest")
  })
})

const gone = new TusError.UploadGone({ request: "append", host: "tus.example.com", status: 404, description: "gone" })

layerTest(
  Upload.layerTest(({ options, source, target: to }) =>
    options.metadata.filename === "gone.bin"
      ? Stream.fail(gone)
      : Stream.concat(Stream.succeed(UploadEvent.Restarted({ reason: "a test" })), Upload.uploaded(to, source))
  )
)("A test layer with an answer", (it) => {
  it.effect("emits the events of the answer, fails with its error, resumes a URL and knows no key", function* () {
    const source = UploadSource.fromBytes(bytes)
    const events = yield* Stream.runCollect(Upload.events(yield* target, source, { metadata }))
    assert.strictEqual(events[0]?._tag, "Restarted")
    const failed = Upload.run(yield* target, source, { metadata: { ...metadata, filename: "gone.bin" } })
    assert.strictEqual(yield* Effect.flip(failed), gone)
    const to = yield* target
    const url = yield* Effect.fromResult(UploadTarget.resolve(to, "/resumable/files/1"))
    assert.strictEqual((yield* Upload.resume({ target: to, url, metadata }, source)).length, 10n)
    assert.strictEqual((yield* Effect.flip(Upload.resume({ key: "k" }, source)))._tag, "NoSuchUpload")
    assert.strictEqual((yield* Stream.run(Stream.make(bytes), Upload.sink(to, { metadata }))).length, 10n)
  })
})
