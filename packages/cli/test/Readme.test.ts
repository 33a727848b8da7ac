import { Emulator } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { run } from "./support/program.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const example = `${root}docs/examples/FirstUpload.ts`

const templates = [{ id: "my-template", content: { steps: { stored: { robot: "/transloadit/store" } } } }]

layer(Layer.merge(Emulator.layer({ templates }), NodeServices.layer))("README", (it) => {
  it.effect("shows the program of docs/examples/FirstUpload.ts", function* () {
    const fs = yield* FileSystem.FileSystem
    const readme = yield* fs.readFileString(`${root}README.md`)
    expect(/```ts\n(.*?)```/s.exec(readme)?.[1]).toBe(yield* fs.readFileString(example))
  })

  it.effect("links, as every page of docs, to files that are there", function* () {
    const fs = yield* FileSystem.FileSystem
    const pages = [
      ...(yield* fs.readDirectory(`${root}docs`)),
      ...(yield* fs.readDirectory(`${root}docs/guides`)).map((name) => `guides/${name}`)
    ].filter((name) => name.endsWith(".md"))
    const missing = yield* Effect.forEach(["README.md", ...pages.map((name) => `docs/${name}`)], (page) =>
      Effect.gen(function* () {
        const text = yield* fs.readFileString(root + page)
        const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => link ?? "")
        return yield* Effect.filter(links, (link) =>
          Effect.map(fs.exists(fileURLToPath(new URL(link, `file://${root}${page}`))), (exists) => !exists)
        )
      })
    )
    expect(missing.flat()).toEqual([])
  })

  it.effect("shows a program that uploads", function* () {
    const fs = yield* FileSystem.FileSystem
    const cwd = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${cwd}/cat.jpg`, "not really a cat")
    expect(yield* run(example, cwd)).toEqual({ output: "16 bytes are stored\n", exitCode: 0 })
  })
})
