import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// TEST_REPORT=<file> writes the results as JSON, besides the usual output.
const report = process.env["TEST_REPORT"]

export default defineConfig({
  test: {
    // A folder alone would not have the options below.
    projects: readdirSync("packages").map((name) => ({
      extends: true,
      root: `packages/${name}`,
      test: { name: `@assembly-effect/${name}` }
    })),
    // Fails a test that shows a secret or a capability.
    setupFiles: [fileURLToPath(new URL("scripts/walk/setup.ts", import.meta.url))],
    // No test waits this long; a busy machine may.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]]
  }
})
