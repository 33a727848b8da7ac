import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Download from "../internal/download.ts"
import * as Table from "../internal/table.ts"
import * as Failure from "../internal/failure.ts"
import * as Output from "../internal/output.ts"
import * as Cli from "../internal/cli.ts"
import * as Shown from "../internal/assembly.ts"

const stepsFlag = Cli.repeated(Cli.text("step", "step"))

const Listing = Schema.Record(Schema.String, Schema.Array(Assembly.File))

/** A file with its Step, whose fields `--json` can name. */
const Row = Schema.Struct({ step: Schema.String, ...Assembly.File.schema.fields })

const list = Cli.command(
  "results list",
  { assemblyId: Cli.assemblyId, steps: stepsFlag, json: Cli.json(Row) },
  Effect.fnUntraced(function* ({ assemblyId: id, json, steps }) {
    const status = yield* Assemblies.get(id)
    const files = yield* Download.find(status, steps)
    if (json && json.length > 0) {
      return yield* Output.json(Schema.Array(Row), json)(files.map(({ file, step }) => ({ ...file, step })))
    }
    const byStep = Array.from(
      Map.groupBy(files, ({ step }) => step),
      ([step, found]) => [step, found.map(({ file }) => file)]
    )
    yield* Output.show(json, Listing, Object.fromEntries(byStep), (layout) =>
      Table.list(Shown.columns, files, { ...layout, empty: "no results" })
    )
    // The suggested command downloads the results of all Steps, so it does not fit a list of some Steps.
    if (!json && steps.length === 0) yield* Shown.suggestFor(status)
  })
)

const download = Cli.command(
  "results download",
  {
    assemblyId: Cli.assemblyId,
    output: Flag.withDefault(Cli.output, "."),
    steps: stepsFlag,
    overwrite: Cli.flag("overwrite"),
    concurrency: Flag.withDefault(Cli.number("concurrency", [1, 32]), 4),
    json: Cli.jsonLines
  },
  Effect.fnUntraced(function* ({ assemblyId: id, ...options }) {
    const status = yield* Assemblies.get(id)
    if (!Assembly.isOver(status)) {
      return yield* Failure.failed(`the Assembly ${id} is still running`, `assembly wait ${id} waits for its end.`)
    }
    yield* Download.save(status, options)
  })
)

/** `assembly results`: the result files of an Assembly. */
export const results = Cli.group("results", [list, download])
