import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as Template from "@assembly-effect/schema/Template"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assemblyId } from "../internal/assemblyId.ts"
import * as Document from "../internal/document.ts"
import * as Fields from "../internal/fields.ts"
import { jsonFlag, switchFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as StatusFacts from "../internal/statusFacts.ts"
import * as TemplateId from "../internal/templateId.ts"
import * as Output from "../Output.ts"

const JsonObject = Schema.Record(Schema.String, Schema.Json)

/** Changes to Steps: a changed Step may omit its robot. */
const Steps = Schema.Record(Schema.String, JsonObject)

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
    steps: Flag.String("steps").pipe(
      Flag.withDescription("A JSON file with changes to the Steps; - is the standard input"),
      Flag.withMetavar("file"),
      Flag.optional
    ),
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
    const steps = yield* Document.readGiven(Steps, files.steps)
    const fields = yield* Fields.read(files)
    const templateId = yield* TemplateId.given(template)
    const replayed = yield* Assemblies.replay(id, {
      ...given({ steps, fields, notifyUrl, templateId }),
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
