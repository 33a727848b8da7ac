/** The programs of docs/uploads.md and docs/results.md, and the examples of doc comments, shown as they are and run against the emulator. */
import { Assemblies, RetryPolicy } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import { Emulator } from "@assembly-effect/emulator"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyUpload, DeliveryProof, Upload, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Layer, type Path, Redacted, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { readFileSync } from "node:fs"
import * as ResultExamples from "../../../docs/examples/results.ts"
import * as Examples from "../../../docs/examples/uploads.ts"
import Worker from "../../../docs/examples/worker.ts"
import { assert, layer, Clients, Emulated, Journals, Scene, Tests, WebResource } from "./utils/index.ts"

const live = Layer.merge(Upload.layer, AssemblyUpload.layer).pipe(
  Layer.provideMerge(Emulated.client),
  Layer.provideMerge(Layer.mergeAll(Emulator.layer(), Clients.undici, NodeServices.layer, UploadJournal.layerMemory()))
)

const root = new URL("../../..", import.meta.url).pathname
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8")

const newTarget = Effect.flatMap(
  Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 }),
  (status) => UploadTarget.fromAssembly(status)
)

layer(live)("docs/uploads.md", (it) => {
  it.effect.each([
    ["uploads", ["uploads.md", "guides/testing.md"]],
    ["results", ["results.md"]]
  ] as const)("shows the programs of docs/examples/%s.ts", function* ([name, pages]) {
    const regions = [...read(`docs/examples/${name}.ts`).matchAll(/\/\/ #region \w+\n(.*?)\/\/ #endregion/gs)]
    assert.isAtLeast(regions.length, 4)
    const fs = yield* FileSystem.FileSystem
    const shown = (yield* Effect.forEach(pages, (page) => fs.readFileString(`${root}/docs/${page}`))).join("")
    for (const [, program = ""] of regions) assert.include(shown, `\`\`\`ts\n${program.trimEnd()}\n\`\`\``)
  })

  it.effect("docs/runtimes.md: a worker stores the body of a request", function* () {
    assert.include(read("docs/runtimes.md"), read("docs/examples/worker.ts").trimEnd())
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const env = {
      ASSEMBLY_BASE_URL: baseUrl,
      ASSEMBLY_AUTH_KEY: credentials.key,
      ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
    }
    const fetched = (body: string | null, key = credentials.key) => {
      const request = new Request("https://worker.example.com", { method: "POST", body })
      return Effect.promise(async () => (await Worker.fetch(request, { ...env, ASSEMBLY_AUTH_KEY: key })).text())
    }
    assert.strictEqual(yield* fetched("hello"), '{"size":5}')
    assert.strictEqual(yield* fetched(null), '{"size":0}')
    assert.strictEqual(yield* fetched("hello", "other"), '{"error":"AuthenticationFailed"}')
  })

  it.effect("a Status for any user", function* () {
    const status = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    assert.isNotEmpty(status.assembly_ssl_url)
    const json = yield* Examples.publicJson(status)
    assert.deepInclude(JSON.parse(json), { ok: "ASSEMBLY_UPLOADING" })
    assert.notInclude(json, status.assembly_id)
    assert.notInclude(json, "http")
  })

  const source = UploadSource.fromBytes(Scene.content(400_000))
  const rows = Stream.map(Stream.range(1, 1000), (id) => ({ id }))
  it.effect("a sink, an HTTP resource, a limit of bandwidth, and events", function* () {
    const { url } = yield* WebResource.make(Scene.content(400_000))
    const slow = Examples.slowly(yield* newTarget, [UploadSource.fromBytes(Scene.content(10_000))])
    const uploads = [
      yield* Examples.exported(yield* newTarget, rows),
      yield* Examples.copied(yield* newTarget, url),
      ...(yield* slow),
      yield* Examples.withProgress(yield* newTarget, source)
    ]
    assert.deepStrictEqual(Tests.pluck(uploads, "length"), [10_893n, 400_000n, 10_000n, 400_000n])
  })

  it.effect("with Server-Sent Events", function* () {
    const texts = yield* Stream.runCollect(Examples.serverSentEvents(yield* newTarget, source))
    assert.strictEqual(texts[0], 'data: {"_tag":"Created","length":"400000"}\n\n')
    assert.strictEqual(texts.at(-1), 'data: {"_tag":"Completed","length":"400000"}\n\n')
    assert.notInclude(texts.join(""), "resumable/files")
  })

  it.effect("resuming", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* Examples.resuming(yield* newTarget, source, folder)
    assert.strictEqual((yield* fs.readDirectory(folder)).filter((name) => name.endsWith(".json")).length, 1)
  })

  it.effect("a test without HTTP", function* () {
    assert.deepStrictEqual(yield* Examples.thumbnailTest, [
      "https://cdn.example.com/cat.jpg",
      "https://example.com/no-picture.jpg"
    ])
  })

  it.effect("the whole job, at once and in several runs", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(`${folder}/sub`)
    const names = ["a.bin", "sub/b.bin"]
    yield* Effect.forEach(names, (name) => fs.writeFile(`${folder}/${name}`, Scene.content(400_000)))
    const journal = Examples.journaled(yield* Journals.folder)
    const surviving = Effect.provide(Examples.survivingJob(folder), journal)
    const all = [yield* Examples.wholeJob([`${folder}/a.bin`]), yield* surviving, yield* surviving]
    assert.isTrue(all.every(({ uploads }) => uploads?.[0]?.size === 400_000))
    assert.deepStrictEqual(Tests.pluck(all[2]?.uploads ?? [], "name").toSorted(), names)
    assert.strictEqual(all[2]?.assembly_id, all[1]?.assembly_id)
  })

  it.effect("small files in one request", function* () {
    const { uploads } = yield* Examples.inOneRequest([{ source, filename: "a.bin" }])
    assert.strictEqual(uploads?.[0]?.size, 400_000)
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

const steps = { stored: { robot: "/transloadit/store", use: ":original" } }

const store = (...texts: ReadonlyArray<string>) =>
  AssemblyUpload.run({
    params: { steps: { ":original": { robot: "/upload/handle" }, ...steps } },
    files: texts.map((text, index) => ({
      source: UploadSource.fromBytes(new TextEncoder().encode(text)),
      filename: `${index}.txt`
    })),
    wait: { interval: "10 millis" }
  })

/** A result by its name: files that are uploaded side by side have no order. */
const fileOf = (status: Assembly.Status, name: string): Assembly.File =>
  (Results.of(status).get("stored") ?? []).find((file) => file.name === name) ?? {}

layer(live)("docs/results.md", (it) => {
  it.effect("saves, reads and proves", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const status = yield* store("first", "a\nb\nc")
    const saved = yield* ResultExamples.saveAll(status, "stored", folder)
    assert.strictEqual(saved.length, 2)
    const texts = yield* Effect.forEach(["0", "1"], (name) => fs.readFileString(`${folder}/${name}`))
    assert.sameMembers(texts, ["first", "a\nb\nc"])
    const first = fileOf(status, "0.txt")
    assert.strictEqual(yield* ResultExamples.countLines(fileOf(status, "1.txt")), 3)
    assert.strictEqual(yield* ResultExamples.backUp(first, `${folder}/backup`), "5 bytes")
    assert.strictEqual(yield* ResultExamples.backUp(first, folder), "not written")
    const damaged = { ...first, md5hash: "0".repeat(32) }
    assert.match(
      yield* ResultExamples.backUp(damaged, `${folder}/backup`),
      /^damaged: Results\.save: the md5hash of 0\.txt/
    )
    assert.strictEqual(
      yield* ResultExamples.deliver(UploadSource.fromBytes(new TextEncoder().encode("hello")), "hello.txt"),
      "delivered"
    )
  })

  it.effect("the examples in doc comments run", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const created = yield* Assemblies.create({
      steps: { ":original": { robot: "/upload/handle" } },
      numExpectedUploadFiles: 1
    })
    yield* fs.writeFileString(`${folder}/cat.jpg`, "abc")
    const scope = {
      AssemblyUpload: {
        run: (options: Parameters<typeof AssemblyUpload.run>[0]) =>
          AssemblyUpload.run({ ...options, params: { steps: { ":original": { robot: "/upload/handle" } } } })
      },
      Console: { ...Console, error: () => Effect.void },
      DeliveryProof,
      Effect: { ...Effect, log: () => Effect.void },
      Results: { ...Results, save: (file: Assembly.File, path: string) => Results.save(file, `${folder}/${path}`) },
      RetryPolicy,
      Stream,
      Upload,
      UploadSource: { ...UploadSource, fromPath: (path: string) => UploadSource.fromPath(`${folder}/${path}`) },
      target: yield* UploadTarget.fromAssembly(created),
      options: { metadata: { filename: "cat.jpg", fieldname: "file" } },
      file: fileOf(yield* store("a text"), "0.txt"),
      assembly: {
        assembly_id: created.assembly_id,
        results: { resized: [{ name: "a", size: 1 }] },
        uploads: [{ name: "cat.jpg", field: "file", size: 3, md5hash: "900150983cd24fb0d6963f7d28e17f72" }]
      }
    }
    const examples = [
      "packages/api/src/Results.ts",
      "packages/api/src/unstable/Download.ts",
      "packages/tus/src/DeliveryProof.ts"
    ].flatMap((path) =>
      [...read(path).matchAll(/^ \* @example\n(.*?)^ \*\n \* @/gms)].map(([, text = ""]) =>
        text.replaceAll(/^ \* ?/gm, "").trim()
      )
    )
    // The last of two examples in one comment ends at `@since`, the first one at the next `@example`.
    assert.isAtLeast(examples.length, 6)
    for (const example of examples) {
      const value: unknown = new Function(...Object.keys(scope), `return (${example})`)(...Object.values(scope))
      if (example.startsWith("Results.of")) assert.deepStrictEqual(value, ["a: 1 bytes"])
      else {
        assert.isTrue(Effect.isEffect(value), example)
        yield* value as Effect.Effect<
          unknown,
          { readonly message: string },
          HttpClient.HttpClient | FileSystem.FileSystem | Path.Path
        >
      }
    }
  })
})
