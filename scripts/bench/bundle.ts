import * as esbuild from "esbuild"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { annotate } from "../pure.ts"

/** Our modules as they are published: `pnpm build` has marked their top-level calls as pure. */
const asPublished: esbuild.Plugin = {
  name: "as-published",
  setup: (build) => {
    build.onLoad({ filter: /\/packages\/[a-z]+\/src\/.*\.ts$/ }, async ({ path }) => ({
      contents: annotate(path, await readFile(path, "utf8")),
      loader: "ts"
    }))
  }
}

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
    target: "es2024",
    plugins: [asPublished]
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1000
}
