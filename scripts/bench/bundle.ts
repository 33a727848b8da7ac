import * as esbuild from "esbuild"
import { cp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { publish } from "./published.ts"

type Platform = "neutral" | "node"

const sizeOf = async (path: string, platform: Platform): Promise<number> => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform,
    mainFields: ["module", "main"],
    target: "es2024"
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1000
}

/**
 * The sizes of some of `programs/` as they are sent to an edge runtime or a page: bundled with the published packages,
 * minified and gzipped, in kB. The sizes have the order of the programs. With the platform `node`, the bundler takes what it would
 * take for a program on Node.
 */
export const bundleSizes = async (
  programs: ReadonlyArray<string>,
  platform: Platform = "neutral"
): Promise<ReadonlyArray<number>> => {
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
    return await Promise.all(programs.map((program) => sizeOf(join(folder, "programs", `${program}.ts`), platform)))
  } finally {
    await rm(folder, { recursive: true })
  }
}
