import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const example = `${root}docs/examples/FirstUpload.ts`

const run = Effect.fnUntraced(function* (cwd: string) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const process_ = yield* ChildProcess.make(process.execPath, [example], {
    cwd,
    env: {
      ASSEMBLY_BASE_URL: baseUrl,
      ASSEMBLY_AUTH_KEY: credentials.key,
      ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
    },
    extendEnv: true
  })
  const output = yield* Stream.mkString(Stream.decodeText(process_.all))
  return { output, exitCode: yield* process_.exitCode }
})

const templates = [{ id: "my-template", content: { steps: { stored: { robot: "/transloadit/store" } } } }]

layer(Layer.merge(Emulator.layer({ templates }), NodeServices.layer), { excludeTestServices: true })("README", (it) => {
  it.effect("shows the program of docs/examples/FirstUpload.ts", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const readme = yield* fs.readFileString(`${root}README.md`)
      expect(/```ts\n(.*?)```/s.exec(readme)?.[1]).toBe(yield* fs.readFileString(example))
    })
  )

  it.effect("links, as every page of docs, to files that are there", () =>
    Effect.gen(function* () {
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
  )

  it.effect("shows a program that uploads", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${cwd}/cat.jpg`, "not really a cat")
      expect(yield* run(cwd)).toEqual({ output: "16 bytes are stored\n", exitCode: 0 })
    })
  )
})
