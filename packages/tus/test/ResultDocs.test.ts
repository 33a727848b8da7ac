/** The programs of docs/results.md, and the examples in doc comments, run against the emulator. */
import * as Results from "@assembly-effect/api/Results"
import { Assemblies, RetryPolicy } from "@assembly-effect/api"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import { DeliveryProof, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Console, Effect, FileSystem, Layer, type Path, Stream } from "effect"
import type * as HttpClient from "effect/http/HttpClient"
import { readFileSync } from "node:fs"
import * as Examples from "../../../docs/examples/results.ts"
import { AssemblyUpload, Clients, Emulated, Upload } from "./utils/index.ts"

const live = Layer.merge(Upload.layer, AssemblyUpload.layer).pipe(
  Layer.provideMerge(Emulated.client),
  Layer.provideMerge(Layer.mergeAll(Emulator.layer(), Clients.undici, NodeServices.layer))
)

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

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
  it.effect("shows the programs of docs/examples/results.ts", () =>
    Effect.sync(() => {
      const shown = read("docs/results.md")
      const regions = [...read("docs/examples/results.ts").matchAll(/\/\/ #region \w+\n(.*?)\/\/ #endregion/gs)]
      assert.strictEqual(regions.length, 4)
      for (const [, program = ""] of regions) assert.include(shown, `\`\`\`ts\n${program.trimEnd()}\n\`\`\``)
    })
  )

  it.effect("saves, reads and proves", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const status = yield* store("first", "a\nb\nc")
    const saved = yield* Examples.saveAll(status, "stored", folder)
    assert.strictEqual(saved.length, 2)
    const texts = yield* Effect.forEach(["0", "1"], (name) => fs.readFileString(`${folder}/${name}`))
    assert.sameMembers(texts, ["first", "a\nb\nc"])
    const first = fileOf(status, "0.txt")
    assert.strictEqual(yield* Examples.countLines(fileOf(status, "1.txt")), 3)
    assert.strictEqual(yield* Examples.backUp(first, `${folder}/backup`), "5 bytes")
    assert.strictEqual(yield* Examples.backUp(first, folder), "not written")
    const damaged = { ...first, md5hash: "0".repeat(32) }
    assert.match(yield* Examples.backUp(damaged, `${folder}/backup`), /^damaged: Results\.save: the md5hash of 0\.txt/)
    assert.strictEqual(
      yield* Examples.deliver(UploadSource.fromBytes(new TextEncoder().encode("hello")), "hello.txt"),
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
      Results: {
        ...Results,
        save: (file: Assembly.File, path: string) => Results.save(file, `${folder}/${path}`)
      },
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
      "packages/api/src/internal/results/download.ts",
      "packages/api/src/internal/results/save.ts",
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
