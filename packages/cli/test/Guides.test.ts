/** Checks each program of docs/guides: its guide shows it unchanged, it runs, and it prints what the guide shows. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { run } from "./support/program.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const read = (path: string) => readFileSync(root + path, "utf8")

const guides = globSync("docs/guides/*.md", { cwd: root }).toSorted()
const programs = globSync("docs/examples/guides/*.ts", { cwd: root }).toSorted()

/** A test, which packages/api/test/Examples.test.ts runs. */
const applicationTest = "docs/examples/testing-an-application.ts"

interface Shown {
  readonly guide: string
  readonly program: string
  /** The first block of output after the program. */
  readonly prints: string | undefined
}

const shown: ReadonlyArray<Shown> = guides.flatMap((guide) =>
  read(guide)
    .split("```ts\n")
    .slice(1)
    .map((text) => ({
      guide,
      program: text.slice(0, text.indexOf("```")),
      prints: /```text\n(.*?)```/s.exec(text)?.[1]
    }))
)

const templates = [{ id: "my-template", content: { steps: { stored: { robot: "/transloadit/store" } } } }]

const service = Emulator.layer({ templates })

/** The tags of the errors that a program can get from the packages. No program handles the errors of `assembly`. */
const tags = globSync("packages/*/src/*.ts", { cwd: root })
  .filter((file) => !file.startsWith("packages/cli/"))
  .flatMap((file) => Array.from(read(file).matchAll(/TaggedError(?:<\w+>\(\))?\(\s*"(\w+)"/g), ([, tag = ""]) => tag))

layer(NodeServices.layer, { excludeTestServices: true })("guides", (it) => {
  it("show every program, and no other code", () => {
    assert.isAtLeast(programs.length, 11)
    const texts = new Set([...programs, applicationTest].map(read))
    assert.deepStrictEqual(
      shown.filter(({ program }) => !texts.has(program)),
      []
    )
    assert.deepStrictEqual(
      programs.filter((path) => !shown.some(({ program }) => program === read(path))),
      []
    )
  })

  it.effect.each(programs)("%s prints what its guide shows", (path) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/letter.txt`, "Hello, Assembly!\n")
      yield* fs.writeFile(`${folder}/video.bin`, new Uint8Array(4 * 1024 * 1024))
      const prints = shown.find(({ program }) => program === read(path))?.prints
      // These two programs need an Assembly, so an upload runs first.
      if (/(?:list|reports)\.ts$/.test(path)) yield* run(root + "docs/examples/guides/upload.ts", folder)
      assert.deepStrictEqual(yield* run(root + path, folder), { output: prints ?? "", exitCode: 0 })
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.effect("a job continues its Assembly in the next process", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFile(`${folder}/video.bin`, new Uint8Array(4 * 1024 * 1024))
      yield* run(root + "docs/examples/guides/resumable.ts", folder)
      const { output } = yield* run(root + "docs/examples/guides/resumable.ts", folder)
      assert.strictEqual(output, "the Assembly of an earlier run\nASSEMBLY_COMPLETED, 4194304 bytes\n")
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it("have a row for the tag of each error of the packages", () => {
    const page = read("docs/guides/troubleshooting.md")
    assert.isAtLeast(tags.length, 90)
    assert.deepStrictEqual(
      tags.filter((tag) => !page.includes(`| \`${tag}\` |`)),
      []
    )
  })
})
