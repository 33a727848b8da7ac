import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { assemblyId } from "../internal/assemblyId.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag } from "../internal/flags.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as ResultFiles from "../internal/resultFiles.ts"
import * as StatusFacts from "../internal/statusFacts.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Table from "../Table.ts"

/** `assembly get`: shows the Status of an Assembly and its results. */
export const get = Command.make(
  "get",
  { assemblyId, json: jsonFlag },
  Effect.fnUntraced(function* ({ assemblyId: id, json }) {
    const status = yield* Assemblies.get(id)
    if (json) return yield* Output.json(Assembly.Status)(status)
    const layout = yield* Output.layout
    const files = ResultFiles.of(status)
    yield* Output.report([
      ...Facts.render(StatusFacts.of(status), layout),
      ...(files.length === 0 ? [] : [Style.blank, ...Table.render(ResultFiles.columns, files, layout)])
    ])
    yield* NextCommand.suggestFor(status)
  })
).pipe(
  Command.withDescription("Show the Status of an Assembly and its results"),
  Command.withExamples([
    { command: "assembly get <assemblyId>", description: "The state, the error if it failed, and the results" },
    { command: "assembly get --json <assemblyId> | jq .uploads", description: "One field of the Status" }
  ])
)
