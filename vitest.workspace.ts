import { defineConfig } from "vitest/config"

// TEST_REPORT=<file> writes the results as JSON, besides the usual output.
const report = process.env["TEST_REPORT"]

export default defineConfig({
  test: {
    projects: ["packages/*"],
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]]
  }
})
