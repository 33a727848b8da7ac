/**
 * The packages in the form in which they are published.
 */
import { createPackageFromTarballData } from "@arethetypeswrong/core"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Command from "../Command.ts"
import { manifestOf, names, root } from "./Repository.ts"

export type Tarball = Awaited<ReturnType<typeof pack>>[number]

/** The command that packs every package. The README and the guide for beginners show it with a folder of the reader. */
export const command = (folder: string): string => `npx -y pnpm@12 pack:all ${folder}`

/** Packs every package into a folder, with the same content as a published package. */
export const pack = async (folder: string) => {
  await Command.runOrFail("sh", ["-c", command(`'${folder}'`)], { cwd: root })
  return names.map((name) => {
    const path = join(folder, `assembly-effect-${name}-${manifestOf(name).version}.tgz`)
    const bytes = new Uint8Array(readFileSync(path))
    const content = createPackageFromTarballData(bytes)
    const inside = `/node_modules/@assembly-effect/${name}/`
    return {
      /** The name of the folder in `packages`. */
      name,
      path,
      bytes,
      content,
      /** The paths of the files, relative to the package. */
      files: content.listFiles().map((file) => file.slice(inside.length)),
      text: (file: string) => content.readFile(inside + file)
    }
  })
}

/** The tarball of a package. */
export const of = (tarballs: ReadonlyArray<Tarball>, name: string): Tarball => {
  const found = tarballs.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} was not packed`)
  return found
}
