import { readdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { configDefaults, defineConfig } from "vitest/config"

// Node compiles a module once for all processes that tests start.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node", import.meta.url))

// TEST_REPORT=<file> writes the results as JSON, besides the usual output.
const report = process.env["TEST_REPORT"]
// `pnpm test:all` sets it: the slow files, `*.all.test.ts`, run too.
const all = process.env["TEST_ALL"] === "1"
const patience = all ? 600_000 : 120_000

// Loading modules is half of a small file's time, so the files of a worker share them, but for these packages. The slow
// files of `cli` have not been tried together, so `cli` shares modules in `pnpm test` alone.
const isolated = new Set(all ? ["cli", "workflow"] : [])

export default defineConfig({
  test: {
    exclude: all ? configDefaults.exclude : [...configDefaults.exclude, "**/*.all.test.ts"],
    // A folder alone would not have the options below.
    projects: [
      ...readdirSync("packages")
        .filter((name) => name !== "testkit")
        .map((name) => ({
          extends: true as const,
          root: `packages/${name}`,
          test: { name: `@assembly-effect/${name}`, isolate: isolated.has(name) }
        })),
      ...["bench", "simulate", "site"].map((name) => ({
        extends: true as const,
        root: `scripts/${name}`,
        test: { name }
      })),
      // Compilers and npm take every core, so these run after all others. They write `dist`, so they run one at a time.
      {
        extends: true as const,
        root: "scripts/packages",
        test: { name: "packages", maxWorkers: 1, sequence: { groupOrder: 1 } }
      }
    ],
    // Fails a test that shows a secret or a capability.
    setupFiles: ["setup.ts", "properties.ts"].map((name) =>
      fileURLToPath(new URL(`scripts/walk/${name}`, import.meta.url))
    ),
    // Many tests wait for a server or a process, so one more worker than cores keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
    // No test waits this long; a busy machine may, most of all for the slow files.
    testTimeout: patience,
    hookTimeout: patience,
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]]
  }
})
