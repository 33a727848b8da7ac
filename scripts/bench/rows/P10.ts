import * as Effect from "effect/Effect"
import * as esbuild from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import * as Harness from "../harness.ts"

/** The size of a program in an edge runtime, in kB. */
const size = (program: string) =>
  Harness.attempt(async () => {
    const { outputFiles } = await esbuild.build({
      entryPoints: [fileURLToPath(new URL(`../programs/${program}.ts`, import.meta.url))],
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      target: "es2024"
    })
    return gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1000
  })

export const row: Harness.Row = {
  id: "P10",
  work: "edge bundle of one signed operation, minified and gzipped",
  run: Effect.gen(function* () {
    const ours = yield* size("edge-ours")
    const plain = yield* size("edge-plain")
    return [
      {
        peer: "the same call with Effect alone",
        target: Harness.atMost(12, "kB more"),
        unit: "kB",
        value: ours - plain,
        samples: { ours: [ours], theirs: [plain] }
      }
    ]
  })
}
