import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A process of its own: what is compiled stays compiled, and code from strings is forbidden for a whole process. */
const program = `
  import * as Assemblies from "@assembly-effect/api/Assemblies"
  import * as Compiled from "@assembly-effect/api/Compiled"
  import * as Effect from "effect/Effect"
  import * as Layer from "effect/Layer"
  import * as SchemaParser from "effect/SchemaParser"

  if (process.argv.includes("compiled")) {
    await Effect.runPromise(Effect.scoped(Layer.build(Compiled.layer([Assemblies.Statistics]))))
  }
  const decode = SchemaParser.decodeUnknownExit(Assemblies.Statistics.success, { errors: "all" })
  const bucket = { data_from_ts: 1, error: "X", num_erroneous_assemblies: 2 }
  const totals = ["Assemblies", "BytesProcessed", "BytesUploaded", "ExecutionDuration", "FilesProcessed",
    "LiveQueueDuration", "OutputBytesProcessed", "OutputFilesProcessed", "UploadDuration", "Usage"]
  const statistics = {
    ok: "ASSEMBLY_STATS_FOUND", granularity: 3600, stats: [], errorStatsGranularity: 60, errorStats: [bucket],
    errorStatsTotals: [], ...Object.fromEntries(totals.map((name) => ["total" + name, 1]))
  }
  const inputs = [
    statistics,
    { ...statistics, granularity: 0, errorStats: [{ ...bucket, error: "" }] },
    { ...statistics, more: 1 },
    { ok: "X" },
    []
  ]
  console.log(JSON.stringify(inputs.map((input) => {
    const exit = decode(input)
    return exit._tag === "Success" ? exit.value : String(exit.cause.reasons[0].error)
  })))
`

const decoded = async (...args: ReadonlyArray<string>) => {
  const forbidden = args.includes("forbidden") ? ["--disallow-code-generation-from-strings"] : []
  const { stdout } = await run(
    process.execPath,
    [...forbidden, "--input-type=module", "--eval", program, "--", ...args],
    { cwd: import.meta.dirname }
  )
  return JSON.parse(stdout)
}

describe("Compiled.layer", () => {
  it("decodes and refuses as without it, and where code from strings is forbidden", async () => {
    const interpreted = await decoded()
    assert.strictEqual(interpreted[0].granularity, 3600)
    assert.isString(interpreted[1])
    assert.deepStrictEqual(await decoded("compiled"), interpreted)
    assert.deepStrictEqual(await decoded("compiled", "forbidden"), interpreted)
  }, 60_000)
})
