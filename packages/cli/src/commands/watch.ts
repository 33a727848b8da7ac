import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Format from "../Format.ts"
import { assemblyId } from "../internal/assemblyId.ts"
import { completed } from "../internal/completed.ts"
import { jsonFlag } from "../internal/flags.ts"
import * as StatusFacts from "../internal/statusFacts.ts"
import * as Text from "../internal/text.ts"
import * as Output from "../Output.ts"

const print = Effect.fnUntraced(function* (text: string) {
  const { width } = yield* Output.layout
  yield* Output.lines<string>(Text.wrap(`${Format.date(yield* DateTime.now).slice(11)}  ${text}`, width ?? Infinity))
})

/** The pause after a line. A Status changes many times a second while files arrive, and nobody reads so many lines. */
const pause = "1 second"

/** Prints a line for each change that a person can see, at most one a second: the first, the newest and the last one. */
export const printLines = <E, R>(statuses: Stream.Stream<Assembly.Status, E, R>) => {
  let last: string | undefined
  const show = Effect.fnUntraced(function* (status: Assembly.Status) {
    const line = StatusFacts.line(status)
    if (line === last) return
    last = line
    yield* print(line)
    if (!Assembly.isOver(status)) yield* Effect.sleep(pause)
  })
  return Stream.tap(Stream.buffer(statuses, { capacity: 1, strategy: "sliding" }), show)
}

/** `assembly watch`: prints each change of an Assembly until it ends. */
export const watch = Command.make(
  "watch",
  { assemblyId, json: jsonFlag },
  Effect.fnUntraced(function* ({ assemblyId: id, json }) {
    const statuses = Assemblies.watch(id)
    const last = json
      ? yield* Stream.runLast(Stream.tap(statuses, (status) => Output.jsonLines(Assembly.Status)([status])))
      : yield* Stream.runLast(printLines(statuses))
    // The exit code tells a script how the Assembly ended.
    if (Option.isSome(last)) yield* completed(last.value)
  })
).pipe(
  Command.withDescription("Print each change of an Assembly until it ends; fails if the Assembly did not complete"),
  Command.withExamples([
    { command: "assembly watch <assemblyId>", description: "A line for each change, with its time in UTC" },
    { command: "assembly watch --json <assemblyId>", description: "Each changed Status as a line of JSON" }
  ])
)
