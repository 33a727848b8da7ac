/**
 * `pnpm bench [P7 P8 …]` runs the named rows or all rows, prints a table and writes the samples to
 * docs/benchmarks.json, or to the file in BENCH_OUTPUT. `--compare <commit>` runs this version and a commit alternately
 * and prints which figures differ; `--rounds <count>` sets the number of rounds.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { cpus, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Compare from "./compare.ts"
import type { Row } from "./harness.ts"
import { attempt, BenchError } from "./harness.ts"
import * as Report from "./report.ts"
import * as Svg from "./svg.ts"

const folder = new URL("rows/", import.meta.url)
const output = process.env["BENCH_OUTPUT"] ?? fileURLToPath(new URL("../../docs/benchmarks.json", import.meta.url))

/** Each file of `rows/` exports one `row` and has the name of its id. */
const idOf = (file: string): string => file.replace(/\.ts$/, "")

const select = Effect.fn(function* (wanted: ReadonlyArray<string>) {
  const files = (yield* attempt(() => readdir(folder))).filter((file) => file.endsWith(".ts"))
  const ids = files.map(idOf).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
  const unknown = wanted.filter((id) => !ids.includes(id))
  if (unknown.length > 0) {
    return yield* Effect.fail(new BenchError(`no such row: ${unknown.join(", ")}; there are ${ids.join(", ")}`))
  }
  return wanted.length === 0 ? ids : ids.filter((id) => wanted.includes(id))
})

const load = (id: string): Effect.Effect<Row, BenchError> =>
  attempt(async () => ((await import(new URL(`${id}.ts`, folder).href)) as { readonly row: Row }).row)

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

const readArgs = Effect.try({
  try: () =>
    parseArgs({ allowPositionals: true, options: { compare: { type: "string" }, rounds: { type: "string" } } }),
  catch: (cause) => new BenchError(String(cause), { cause })
})

const toRounds = (text: string | undefined): Effect.Effect<number | undefined, BenchError> =>
  text === undefined || /^[1-9][0-9]{0,3}$/.test(text)
    ? Effect.succeed(text === undefined ? undefined : Number(text))
    : Effect.fail(new BenchError(`--rounds is not a number from 1 to 9999: ${text}`))

const main = Effect.gen(function* () {
  const { positionals, values } = yield* readArgs
  const ids = yield* select(positionals)
  const rounds = yield* toRounds(values.rounds)
  if (values.compare !== undefined) {
    return yield* Effect.scoped(Compare.compare(values.compare, ids, rounds))
  }
  const results: Array<Report.Result> = []
  for (const id of ids) {
    const row = yield* load(id)
    yield* Console.error(`${row.id}: ${row.work} …`)
    results.push({ row, figures: yield* Effect.scoped(row.run) })
  }
  yield* Console.log(Report.table(results))
  yield* save(results)
  yield* drawAll(results)
})

NodeRuntime.runMain(main)
