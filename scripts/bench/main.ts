/**
 * `pnpm bench [P7 P8 …]` runs the named rows or all rows, prints a table and writes the samples to
 * docs/benchmarks.json, or to the file in BENCH_OUTPUT.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { BenchError } from "./harness.ts"
import * as Report from "./report.ts"
import { rows as growth } from "./rows/growth.ts"
import { rows as jobs } from "./rows/jobs.ts"
import { rows as local } from "./rows/local.ts"
import { rows as memory } from "./rows/memory.ts"
import { rows as operations } from "./rows/operations.ts"
import { rows as uploads } from "./rows/uploads.ts"
import * as Svg from "./svg.ts"

const output = process.env["BENCH_OUTPUT"] ?? fileURLToPath(new URL("../../docs/benchmarks.json", import.meta.url))

const rows = [uploads, operations, local, growth, jobs, memory]
  .flat()
  .toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }))

/** The rows with these ids: `P15` is every row of P15. */
const select = (wanted: ReadonlyArray<string>) => {
  const matches = (id: string) => (one: string) => id === one || id.startsWith(`${one}-`)
  const unknown = wanted.filter((one) => !rows.some(({ id }) => matches(id)(one)))
  return unknown.length > 0
    ? Effect.fail(new BenchError(`no such row: ${unknown}; there are ${rows.map(({ id }) => id).join(", ")}`))
    : Effect.succeed(rows.filter(({ id }) => wanted.length === 0 || wanted.some(matches(id))))
}

const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  node: process.version,
  platform: `${process.platform} ${process.arch}`
}

/** Saves the results. Rows that were not run keep their old results. */
const save = (results: ReadonlyArray<Report.Result>) =>
  Effect.sync(() => {
    const kept: Record<string, unknown> = existsSync(output) ? JSON.parse(readFileSync(output, "utf8")) : {}
    for (const result of results) kept[result.row.id] = Report.toJson(result, machine)
    writeFileSync(output, `${JSON.stringify(kept, null, 1)}\n`)
  })

/** Draws the rows of growth into the folder `benchmarks` beside the results. */
const drawAll = (results: ReadonlyArray<Report.Result>) =>
  Effect.sync(() => {
    const charts = join(dirname(output), "benchmarks")
    for (const { figures, row } of results) {
      const lines = figures.flatMap(({ line }) => (line === undefined ? [] : [line]))
      if (row.axes === undefined || lines.length === 0) continue
      mkdirSync(charts, { recursive: true })
      writeFileSync(join(charts, `${row.id}.svg`), Svg.draw({ title: row.work, ...row.axes, lines }))
    }
  })

const main = Effect.gen(function* () {
  const chosen = yield* select(process.argv.slice(2))
  const results: Array<Report.Result> = []
  for (const row of chosen) {
    yield* Console.error(`${row.id}: ${row.work} …`)
    results.push({ row, figures: yield* Effect.scoped(row.run) })
  }
  yield* Console.log(Report.table(results))
  yield* save(results)
  yield* drawAll(results)
})

NodeRuntime.runMain(main)
