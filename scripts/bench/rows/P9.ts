import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Harness from "../harness.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../../../", import.meta.url))
const packages = ["schema", "auth", "api", "tus"]

/** Builds a package as it is published, with the exports of `publishConfig`. */
const publish = async (folder: string, name: string) => {
  const to = join(folder, "node_modules/@assembly-effect", name)
  const manifest = JSON.parse(await readFile(join(root, "packages", name, "package.json"), "utf8"))
  await mkdir(to, { recursive: true })
  await cp(join(root, "packages", name, "dist"), join(to, "dist"), { recursive: true })
  await writeFile(join(to, "package.json"), JSON.stringify({ ...manifest, exports: manifest.publishConfig.exports }))
}

/** Creates a folder with both sides installed, and for each side a program that measures its import time. */
const install = async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "bench-import-")))
  await run(join(root, "node_modules/.bin/tsc"), ["-b"], { cwd: root })
  for (const name of packages) await publish(folder, name)
  const link = async (name: string, from: string) => {
    await mkdir(join(folder, "node_modules", name, ".."), { recursive: true })
    await symlink(await realpath(join(from, "node_modules", name)), join(folder, "node_modules", name))
  }
  await link("effect", root)
  await link("@transloadit/node", fileURLToPath(new URL("../", import.meta.url)))
  const program = (imports: ReadonlyArray<string>) =>
    [
      "const start = performance.now()",
      `await Promise.all([${imports.map((name) => `import("${name}")`).join(", ")}])`,
      "console.log(performance.now() - start)",
      "process.exit(0)"
    ].join("\n")
  await writeFile(join(folder, "ours.mjs"), program(packages.map((name) => `@assembly-effect/${name}`)))
  await writeFile(join(folder, "official.mjs"), program(["@transloadit/node"]))
  return folder
}

/** The import time of a new process in milliseconds, without the start of Node itself. */
const importTime = (folder: string, program: string) =>
  Harness.attempt(async () => Number((await run(process.execPath, [join(folder, program)])).stdout))

export const row: Harness.Row = {
  id: "P9",
  work: "import of schema, auth, api and tus, built, in a new process",
  run: Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(Harness.attempt(install), (path) =>
      Effect.promise(() => rm(path, { recursive: true }))
    )
    const samples = yield* Harness.alternate(
      { ours: importTime(folder, "ours.mjs"), official: importTime(folder, "official.mjs") },
      { rounds: 15, warmups: 3 }
    )
    return [
      Harness.ratio({
        peer: "@transloadit/node",
        target: Harness.atMost(0.6),
        unit: "ms",
        ours: samples.ours,
        theirs: samples.official
      })
    ]
  })
}
