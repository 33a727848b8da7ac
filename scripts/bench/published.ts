import { cp, mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Command from "../Command.ts"
import { root } from "../packages/Repository.ts"

/** The packages of a program that calls operations and uploads files. Each package comes after those that it uses. */
export const packages: ReadonlyArray<string> = ["schema", "auth", "api", "tus"]

/** Creates a temporary folder in which the packages are installed as they are published, with Effect beside them. */
export const publish = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "bench-published-")))
  for (const name of packages) {
    await Command.runOrFail(process.execPath, ["scripts/packages/build.ts", name], { cwd: root })
    const from = join(root, "packages", name)
    const to = join(folder, "node_modules/@assembly-effect", name)
    const manifest = JSON.parse(await readFile(join(from, "package.json"), "utf8"))
    await mkdir(to, { recursive: true })
    await cp(join(from, "dist"), join(to, "dist"), { recursive: true })
    await writeFile(join(to, "package.json"), JSON.stringify({ ...manifest, exports: manifest.publishConfig.exports }))
  }
  await symlink(await realpath(join(root, "node_modules/effect")), join(folder, "node_modules/effect"))
  const noble = join(root, "packages/api/node_modules/@noble")
  await symlink(await realpath(noble), join(folder, "node_modules/@noble"))
  return folder
}
