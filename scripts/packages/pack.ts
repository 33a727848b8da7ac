// `pnpm pack:all <folder>` packs every package into a folder. `pnpm release:dry`, without a folder, only lists the
// content of each package. The output of pnpm names thousands of files, so it is shown only if packing fails.
import { mkdirSync } from "node:fs"
import { extname, resolve } from "node:path"
import * as Command from "./Command.ts"
import { root } from "./Repository.ts"

interface Packed {
  readonly name: string
  readonly version: string
  readonly files: ReadonlyArray<{ readonly path: string }>
}

/** The folder of the reader: pnpm runs scripts in the root of the workspace. */
const folder = process.argv[2] === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", process.argv[2])
if (folder !== undefined) mkdirSync(folder, { recursive: true })

const everyPackage = ["--recursive", "--filter", "./packages/*", "--workspace-concurrency=1"]
const target = folder === undefined ? ["--dry-run"] : ["--pack-destination", folder]
const { exitCode, output } = await Command.run("npx", ["-y", "pnpm@12", ...everyPackage, "pack", "--json", ...target], {
  cwd: root
})

/** Counts texts, for example `.js 12, .d.ts 12`. */
const counted = (texts: ReadonlyArray<string>): string => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return Array.from(counts, ([text, count]) => `${text} ${count}`).join(", ")
}

/** `.js`, `.d.ts`, `.d.ts.map`, … */
const kindOf = (path: string): string => /(?:\.d)?\.ts(?:\.map)?$|\.js(?:\.map)?$/.exec(path)?.[0] ?? extname(path)

const describe = ({ files, name, version }: Packed): string => {
  const paths = files.map(({ path }) => path)
  const places = ["dist", "src"].map((place) => {
    const inside = paths.filter((path) => path.startsWith(`${place}/`))
    return `  ${place}: ${counted(inside.map(kindOf))}`
  })
  const others = paths.filter((path) => !/^(?:dist|src)\//.test(path))
  return [`${name} ${version}: ${paths.length} files`, `  ${others.join(", ")}`, ...places].join("\n")
}

// The JSON follows the output of the builds.
const [json] = /^\[\n.*?^\]$/ms.exec(output) ?? []
if (exitCode !== 0 || json === undefined) {
  console.error(output)
  process.exitCode = exitCode || 1
} else {
  const packed: ReadonlyArray<Packed> = JSON.parse(json)
  if (folder === undefined) console.log(packed.map(describe).join("\n"))
  else console.log(`${packed.length} packages are in ${folder}`)
}
