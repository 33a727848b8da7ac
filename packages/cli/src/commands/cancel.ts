import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { assemblyIds } from "../internal/assemblyId.ts"
import * as AssemblyState from "../internal/assemblyState.ts"
import { statusesFlag } from "../internal/flags.ts"
import * as Output from "../Output.ts"

const sentence = (status: Assembly.Status): string =>
  Assembly.state(status) === "Canceled"
    ? `canceled ${status.assembly_id}`
    : `${status.assembly_id} had ended before: ${AssemblyState.name(status)}`

/** `assembly cancel`: stops Assemblies. */
export const cancel = Command.make(
  "cancel",
  { assemblyIds, json: statusesFlag },
  Effect.fnUntraced(function* ({ assemblyIds: ids, json }) {
    yield* Effect.forEach(
      ids,
      Effect.fnUntraced(function* (assemblyId) {
        const status = yield* Assemblies.cancel(assemblyId)
        yield* json ? Output.jsonLines(Assembly.Status)([status]) : Output.lines([sentence(status)])
      }),
      { discard: true }
    )
  })
).pipe(
  Command.withDescription("Cancel Assemblies. The command stops at the first Assembly that cannot be canceled"),
  Command.withExamples([
    { command: "assembly cancel <assemblyId>", description: "Cancel an Assembly" },
    {
      command: "assembly list --type uploading --json --all | jq -r .id | xargs -r assembly cancel",
      description: "Cancel all Assemblies that wait for files"
    }
  ])
)
