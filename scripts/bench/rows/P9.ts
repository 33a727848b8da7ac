import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Harness from "../harness.ts"
import { packages, publish } from "../published.ts"

const run = promisify(execFile)

/** Adds the other client, and for each side a program that measures its import time. */
const install = async () => {
  const folder = await publish()
  const other = "node_modules/@transloadit/node"
  await mkdir(join(folder, dirname(other)))
  await symlink(await realpath(fileURLToPath(new URL(`../${other}`, import.meta.url))), join(folder, other))
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
