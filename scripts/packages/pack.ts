// `pnpm pack:all <folder>` packs every package into a folder. `pnpm release:dry`, without a folder, only counts the
// files of each package. The output of pnpm names thousands of files, so it is shown only if packing fails.
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import * as Command from "../Command.ts"
import { root } from "./Repository.ts"

interface Packed {
  readonly name: string
  readonly version: string
  readonly files: ReadonlyArray<{ readonly path: string }>
}

/** The folder of the reader: pnpm runs scripts in the root of the workspace. */
const folder = process.argv[2] === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", process.argv[2])
if (folder !== undefined) mkdirSync(folder, { recursive: true })

// All are built at once here, so each does not build itself again before it is packed.
console.error("Building the packages …")
await Command.runOrFail(process.execPath, [join(import.meta.dirname, "build.ts")], { cwd: root })
const everyPackage = "--recursive --filter ./packages/* --filter !@assembly-effect/testkit --config.ignore-scripts=true"
console.error("Packing them …")
const target = folder === undefined ? ["--dry-run"] : ["--pack-destination", folder]
const { exitCode, output } = await Command.run(
  "npx",
  ["-y", "pnpm@12", ...everyPackage.split(" "), "pack", "--json", ...target],
  {
    cwd: root
  }
)

const [json] = /^\[\n.*?^\]$/ms.exec(output) ?? []
if (exitCode !== 0 || json === undefined) {
  console.error(output)
  process.exitCode = exitCode || 1
} else {
  const packed: ReadonlyArray<Packed> = JSON.parse(json)
  if (folder !== undefined) console.log(`${packed.length} packages are in ${folder}`)
  else for (const { files, name, version } of packed) console.log(`${name} ${version}: ${files.length} files`)
}
