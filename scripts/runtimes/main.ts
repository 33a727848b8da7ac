/**
 * Runs one program on every runtime of this machine, and writes the results into `docs/runtimes.md`.
 *
 *     node scripts/runtimes/main.ts [--only <text>] [--blocks <MiB>] [--print]
 *     node scripts/runtimes/main.ts --only measures
 */
import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { rows } from "./rows.ts"
import * as Measure from "./measure.ts"
import * as Run from "./run.ts"
import * as Table from "./table.ts"
import * as Tools from "./tools.ts"

const { values } = parseArgs({
  options: { only: { type: "string" }, blocks: { type: "string", default: "64" }, print: { type: "boolean" } }
})

Tools.install()
const chosen = rows.filter(({ name }) => values.only === undefined || name.includes(values.only))
const results: Array<Table.Result> = []
for (const row of chosen) {
  const began = performance.now()
  const outcome = await Run.run(row, Number(values.blocks))
  results.push({ name: row.name, outcome })
  console.error(`${row.name}: ${Table.summary(outcome)}, ${Math.round((performance.now() - began) / 1000)} s`)
}

const measures = values.only === undefined || values.only === "measures" ? await Measure.all() : []

const text = [Table.render(results, Number(values.blocks)), Table.renderMeasures(measures)].join("\n\n")
if (values.print === true || values.only !== undefined) console.log(text)
else {
  const file = new URL("../../docs/runtimes.md", import.meta.url)
  writeFileSync(file, Table.insert(readFileSync(file, "utf8"), text))
}
const hasFailed =
  results.some(({ outcome }) => Table.hasFailed(outcome)) || measures.some(({ holds }) => holds === false)
process.exit(hasFailed ? 1 : 0)
