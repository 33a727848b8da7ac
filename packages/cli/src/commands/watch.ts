import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { assemblyId } from "../internal/assemblyId.ts"
import { completed } from "../internal/completed.ts"
import { statusesFlag } from "../internal/flags.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as WatchLines from "../internal/watchLines.ts"
import * as Output from "../Output.ts"

/** `assembly watch`: prints each change of an Assembly until it ends. */
export const watch = Command.make(
  "watch",
  { assemblyId, json: statusesFlag },
  Effect.fnUntraced(function* ({ assemblyId: id, json }) {
    const statuses = Assemblies.watch(id)
    const last = json
      ? yield* Stream.runLast(Output.whileRead(statuses, (status) => Output.jsonLines(Assembly.Status)([status])))
      : yield* Stream.runLast(WatchLines.print(statuses))
    // If nobody reads the output any more, the command ends before the Assembly has ended.
    if (!(yield* Output.isWritten)) return
    // The exit code tells a script how the Assembly ended.
    if (Option.isSome(last)) {
      yield* completed(last.value)
      if (!json) yield* NextCommand.suggestFor(last.value)
    }
  })
).pipe(
  Command.withDescription("Print each change of an Assembly until it ends; fails if the Assembly did not complete"),
  Command.withExamples([
    {
      command: "assembly watch <assemblyId>",
      description: "The changes with their time in UTC, at most one line a second"
    },
    { command: "assembly watch --json <assemblyId>", description: "Each changed Status as a line of JSON" }
  ])
)
