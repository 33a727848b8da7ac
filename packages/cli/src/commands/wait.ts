import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Format from "../Format.ts"
import * as ErrorLine from "../ErrorLine.ts"
import { assemblyIds } from "../internal/assemblyId.ts"
import { statusesFlag } from "../internal/flags.ts"
import * as Moment from "../internal/moment.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as StatusFacts from "../internal/statusFacts.ts"
import * as Text from "../internal/text.ts"
import * as Output from "../Output.ts"

/**
 * At least one of several Assemblies has not completed, or its Status could not be read. `causes` are the errors of
 * these Assemblies, which were printed.
 */
export class NotAllCompleted extends Schema.TaggedError<NotAllCompleted>()("NotAllCompleted", {
  causes: Schema.Array(Schema.Defect()),
  total: Schema.Int
}) {
  override get message() {
    return `${this.causes.length} of ${this.total} Assemblies did not complete`
  }
}

/** An Assembly has not ended within the given time. The Assembly continues. */
export class NotEnded extends Schema.TaggedError<NotEnded>()("NotEnded", {
  assemblyId: Schema.String,
  after: Schema.Duration
}) {
  override get message() {
    return `the Assembly ${this.assemblyId} has not ended after ${Format.duration(this.after)}; --timeout waits longer`
  }
}

/** How many Assemblies the command waits for at the same time. */
const concurrency = 8

/** `assembly wait`: waits until Assemblies have completed. */
export const wait = Command.make(
  "wait",
  {
    assemblyIds,
    timeout: Moment.durationFlag("timeout", "1h", "How long to wait for each Assembly, such as 10m (default: 1h)"),
    json: statusesFlag
  },
  Effect.fnUntraced(function* ({ assemblyIds: ids, json, timeout }) {
    const { width = Number.POSITIVE_INFINITY } = yield* Output.layout
    const print = (id: string, status: Assembly.Status) =>
      Output.lines<string>(Text.wrap(`${id}  ${StatusFacts.line(status)}`, width).map((line) => line.trimEnd()))
    const waitFor = (id: Assembly.AssemblyId) =>
      Assemblies.awaitCompletion(id, { timeout }).pipe(
        Effect.catchTag("TimedOut", (error) =>
          Effect.fail(
            error.operation === "Assemblies.awaitCompletion"
              ? new NotEnded({ assemblyId: id, after: error.after })
              : error
          )
        ),
        Effect.tap((status) => (json ? Output.jsonLines(Assembly.Status)([status]) : print(id, status)))
      )
    const [only, ...others] = ids
    if (only !== undefined && others.length === 0) {
      const status = yield* waitFor(only)
      return yield* json ? Effect.void : NextCommand.suggestFor(status)
    }
    const outcomes = yield* Effect.forEach(
      ids,
      (id) =>
        waitFor(id).pipe(
          Effect.tapError((error) => {
            const line = ErrorLine.fromError(error)
            return Output.error(line.includes(id) ? line : `${id}: ${line}`)
          }),
          Effect.result
        ),
      { concurrency }
    )
    const causes = outcomes.flatMap((outcome) => (Result.isFailure(outcome) ? [outcome.failure] : []))
    if (causes.length > 0) return yield* new NotAllCompleted({ causes, total: ids.length })
  })
).pipe(
  Command.withDescription("Wait until Assemblies have completed; fails if one of them did not"),
  Command.withExamples([
    {
      command: "assembly wait <assemblyId> && assembly results download <assemblyId>",
      description: "Wait, then download the results"
    },
    { command: "assembly wait --timeout 10m <assemblyId> <assemblyId>", description: "At most ten minutes for each" }
  ])
)
