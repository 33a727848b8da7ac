import { defineConfig } from "vitest/config"

// TEST_REPORT=<file> writes the results as JSON, besides the usual output.
const report = process.env["TEST_REPORT"]

export default defineConfig({
  test: {
    projects: ["packages/*"],
    // No test waits this long; a busy machine may.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]]
  }
})
