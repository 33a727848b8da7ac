/** The programs of docs/uploads.md, shown as they are and run against the emulator. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { AssemblyUpload, Upload, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Stream } from "effect"
import * as Examples from "../../../docs/examples/uploads.ts"
import { Clients, Emulated, Scene, WebResource } from "./utils/index.ts"

const live = Layer.merge(Upload.layer, AssemblyUpload.layer).pipe(
  Layer.provideMerge(Emulated.client),
  Layer.provideMerge(Layer.mergeAll(Emulator.layer(), Clients.undici, NodeServices.layer, UploadJournal.layerMemory()))
)

const newTarget = Effect.flatMap(
  Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 }),
  (status) => UploadTarget.fromAssembly(status)
)

layer(live)("docs/uploads.md", (it) => {
  it.effect("shows the programs of docs/examples/uploads.ts", function* () {
    const fs = yield* FileSystem.FileSystem
    const text = (path: string) => fs.readFileString(new URL(`../../../docs/${path}`, import.meta.url).pathname)
    const shown = (yield* text("uploads.md")) + (yield* text("guides/testing.md"))
    const regions = [...(yield* text("examples/uploads.ts")).matchAll(/\/\/ #region \w+\n(.*?)\/\/ #endregion/gs)]
    assert.isAtLeast(regions.length, 6)
    for (const [, program = ""] of regions) assert.include(shown, `\`\`\`ts\n${program.trimEnd()}\n\`\`\``)
  })

  it.effect("a sink", function* () {
    const rows = Stream.map(Stream.range(1, 1000), (id) => ({ id }))
    const { length } = yield* Examples.exported(yield* newTarget, rows)
    assert.strictEqual(length, 10_893n)
  })

  it.effect("a Status for any user", function* () {
    const status = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    assert.isNotEmpty(status.assembly_ssl_url)
    const json = yield* Examples.publicJson(status)
    assert.deepInclude(JSON.parse(json), { ok: "ASSEMBLY_UPLOADING" })
    assert.notInclude(json, status.assembly_id)
    assert.notInclude(json, "http")
  })

  it.effect("an HTTP resource", function* () {
    const { url } = yield* WebResource.make(Scene.content(400_000))
    const { length } = yield* Examples.copied(yield* newTarget, url)
    assert.strictEqual(length, 400_000n)
  })

  it.effect("a limit of bandwidth", function* () {
    const sources = [UploadSource.fromBytes(Scene.content(10_000))]
    assert.strictEqual((yield* Examples.slowly(yield* newTarget, sources))[0]?.length, 10_000n)
  })

  it.effect("with events", function* () {
    const { length } = yield* Examples.withProgress(yield* newTarget, UploadSource.fromBytes(Scene.content(400_000)))
    assert.strictEqual(length, 400_000n)
  })

  it.effect("with Server-Sent Events", function* () {
    const source = UploadSource.fromBytes(Scene.content(400_000))
    const texts = yield* Stream.runCollect(Examples.serverSentEvents(yield* newTarget, source))
    assert.strictEqual(texts[0], 'data: {"_tag":"Created","length":"400000"}\n\n')
    assert.strictEqual(texts.at(-1), 'data: {"_tag":"Completed","length":"400000"}\n\n')
    assert.notInclude(texts.join(""), "resumable/files")
  })

  it.effect("resuming", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* Examples.resuming(yield* newTarget, UploadSource.fromBytes(Scene.content(400_000)), folder)
    assert.strictEqual((yield* fs.readDirectory(folder)).filter((name) => name.endsWith(".json")).length, 1)
  })

  it.effect("a test without HTTP", function* () {
    assert.deepStrictEqual(yield* Examples.thumbnailTest, [
      "https://cdn.example.com/cat.jpg",
      "https://example.com/no-picture.jpg"
    ])
  })

  it.effect("the whole job", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempFileScoped()
    yield* fs.writeFile(path, Scene.content(400_000))
    const completed = yield* Examples.wholeJob([path])
    assert.strictEqual(completed.uploads?.[0]?.size, 400_000)
  })

  it.effect("small files in one request", function* () {
    const source = UploadSource.fromBytes(Scene.content(1000))
    const { uploads } = yield* Examples.inOneRequest([{ source, filename: "a.bin" }])
    assert.strictEqual(uploads?.[0]?.size, 1000)
  })

  it.effect("the whole job, in several runs", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempFileScoped()
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFile(path, Scene.content(400_000))
    const first = yield* Effect.provide(Examples.survivingJob([path]), Examples.journaled(folder))
    assert.strictEqual(first.uploads?.[0]?.size, 400_000)
    assert.strictEqual(
      (yield* Effect.provide(Examples.survivingJob([path]), Examples.journaled(folder))).assembly_id,
      first.assembly_id
    )
  })

  it.effect("many jobs", function* () {
    const fs = yield* FileSystem.FileSystem
    const [folder, journal] = [yield* fs.makeTempDirectoryScoped(), yield* fs.makeTempDirectoryScoped()]
    yield* Effect.forEach(["a.txt", "b.txt", "c.txt"], (name) => fs.writeFileString(`${folder}/${name}`, name))
    const tags = Effect.map(Effect.provide(Examples.folderBatch(folder), Examples.journaled(journal)), (outcomes) =>
      outcomes.map(({ _tag }) => _tag)
    )
    assert.deepStrictEqual(yield* tags, ["Completed", "Completed", "Completed"])
    assert.deepStrictEqual(yield* tags, ["Skipped", "Skipped", "Skipped"])
  })
})
