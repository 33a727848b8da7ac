// `build.ts [folder in packages …]` builds packages, or every package. `dist` is removed first, so that no output of a
// deleted source is packed.
import { execFileSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { bundled } from "../pure.ts"
import * as Bundled from "./bundled.ts"
import * as Repository from "./Repository.ts"

const { root } = Repository
const names = process.argv.length > 2 ? process.argv.slice(2) : Repository.names
const node = (...args: ReadonlyArray<string>) => execFileSync(process.execPath, args, { stdio: "inherit" })

const folders = names.map((name) => join(root, "packages", name))
for (const folder of folders) rmSync(join(folder, "dist"), { recursive: true, force: true })
node(join(root, "node_modules", "typescript", "bin", "tsc"), "--build", ...folders)
for (const name of Bundled.bundledForNode) {
  if (names.includes(name)) await Bundled.write(join(root, "packages", name, "dist"))
}
const marked = bundled.filter((name) => names.includes(name))
if (marked.length > 0) node(join(root, "scripts", "pure.ts"), ...marked)
