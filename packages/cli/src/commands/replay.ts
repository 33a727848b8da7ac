import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as Template from "@assembly-effect/schema/Template"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { assemblyId } from "../internal/assemblyId.ts"
import * as Fields from "../internal/fields.ts"
import { jsonFlag, switchFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as StepsFile from "../internal/stepsFile.ts"
import * as StatusFacts from "../internal/statusFacts.ts"
import * as TemplateId from "../internal/templateId.ts"
import * as Output from "../Output.ts"

/** Changes to Steps: a changed Step may omit its robot. */
const Changes = Schema.Struct({ steps: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json)) })

/** `assembly replay`: runs the files of an Assembly again. */
export const replay = Command.make(
  "replay",
  {
    assemblyId,
    template: Flag.String("template").pipe(
      Flag.withMetavar("template"),
      Flag.withDescription("Another Template for the new Assembly, by its id or name"),
      Flag.withSchema(Template.IdOrName),
      Flag.optional
    ),
    reparseTemplate: switchFlag("reparse-template").pipe(
      Flag.withDescription("Use the current version of the Template, not the version of the first run"),
      Flag.withDefault(false)
    ),
    steps: StepsFile.flag("changes to the Steps"),
    ...Fields.flags,
    notifyUrl: Flag.String("notify-url").pipe(
      Flag.withMetavar("url"),
      Flag.withDescription("The receiver of the notification about the new Assembly"),
      Flag.optional
    ),
    wait: switchFlag("wait").pipe(
      Flag.withDescription("Wait until the new Assembly has completed"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ assemblyId: id, json, notifyUrl, reparseTemplate, template, wait, ...files }) {
    const changes = yield* StepsFile.read(Changes, files.steps)
    const fields = yield* Fields.read(files)
    const templateId = yield* TemplateId.given(template)
    const replayed = yield* Assemblies.replay(id, {
      ...given({ steps: Option.map(changes, ({ steps }) => steps), fields, notifyUrl, templateId }),
      ...(reparseTemplate ? { reparseTemplate } : {})
    })
    if (!wait && json) return yield* Output.json(AssemblyReplay.Replayed)(replayed)
    if (!json) yield* Output.lines([`replayed as ${replayed.assembly_id}`])
    if (!wait) return yield* NextCommand.suggest({ args: `wait ${replayed.assembly_id}` })
    const status = yield* Assemblies.awaitCompletion(replayed.assembly_id)
    if (json) return yield* Output.json(Assembly.Status)(status)
    yield* Output.lines([StatusFacts.line(status)])
    yield* NextCommand.suggestFor(status)
  })
).pipe(
  Command.withDescription("Run the files of an Assembly again, as a new Assembly"),
  Command.withExamples([
    { command: "assembly replay <assemblyId>", description: "The same Steps; prints the id of the new Assembly" },
    { command: "assembly replay --reparse-template --wait <assemblyId>", description: "With the corrected Template" }
  ])
)
