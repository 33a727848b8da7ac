import * as esbuild from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

/** The size of one of `programs/` as it is sent to an edge runtime or a page: bundled, minified and gzipped, in kB. */
export const bundleSize = async (program: string): Promise<number> => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(new URL(`programs/${program}.ts`, import.meta.url))],
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
