// Builds one package. `dist` is removed first, so that no output of a deleted source is packed.
import { execFileSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { bundled } from "../pure.ts"
import * as Bundled from "./bundled.ts"

const name = process.argv[2]
if (name === undefined) throw new Error("usage: build.ts <folder in packages>")

const root = join(import.meta.dirname, "..", "..")
const folder = join(root, "packages", name)

rmSync(join(folder, "dist"), { recursive: true, force: true })
const node = (...args: ReadonlyArray<string>) => execFileSync(process.execPath, args, { stdio: "inherit" })
node(join(root, "node_modules", "typescript", "bin", "tsc"), "--build", folder)
if (Bundled.bundledForNode.includes(name)) await Bundled.write(join(folder, "dist"))
if (bundled.includes(name)) node(join(root, "scripts", "pure.ts"), name)
