// Prints the test counts of vitest's JSON report in one line, `N passed, M failed`. Fails if the report is missing or
// broken, if a test failed, or if no test ran.
import { readFileSync } from "node:fs"

const file = process.argv[2]
if (file === undefined) throw new Error("usage: ci-count.ts <report.json>")

const report: unknown = JSON.parse(readFileSync(file, "utf8"))

const count = (key: string): number => {
  const value: unknown = typeof report === "object" && report !== null ? Reflect.get(report, key) : undefined
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new Error(`the report has no count "${key}"`)
  return value
}

const passed = count("numPassedTests")
const failed = count("numFailedTests")

console.log(`${passed} passed, ${failed} failed`)
if (failed > 0 || passed === 0) process.exitCode = 1
