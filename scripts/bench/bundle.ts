import * as esbuild from "esbuild"
import { cp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { publish } from "./published.ts"

const sizeOf = async (path: string): Promise<number> => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2024"
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1000
}

/**
 * The sizes of some of `programs/` as they are sent to an edge runtime or a page: bundled with the published packages,
 * minified and gzipped, in kB. The sizes have the order of the programs.
 */
export const bundleSizes = async <const Programs extends ReadonlyArray<string>>(
  programs: Programs
): Promise<{ readonly [Index in keyof Programs]: number }> => {
  const folder = await publish()
  try {
    await cp(fileURLToPath(new URL("programs", import.meta.url)), join(folder, "programs"), { recursive: true })
    // The same program with the index of the package instead of its modules.
    const deep = await readFile(join(folder, "programs/upload-deep.ts"), "utf8")
    const index = deep.replaceAll(
      /(type )?\* as (\w+) from "@assembly-effect\/tus\/\w+"/g,
      '{ $1$2 } from "@assembly-effect/tus"'
    )
    await writeFile(join(folder, "programs/upload-index.ts"), index)
    const sizes = await Promise.all(programs.map((program) => sizeOf(join(folder, "programs", `${program}.ts`))))
    return sizes as { readonly [Index in keyof Programs]: number }
  } finally {
    await rm(folder, { recursive: true })
  }
}
