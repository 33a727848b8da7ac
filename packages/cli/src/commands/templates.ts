import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Templates from "@assembly-effect/api/Templates"
import * as Template from "@assembly-effect/schema/Template"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Cells from "../internal/cells.ts"
import * as Confirm from "../internal/confirm.ts"
import { deleteEach } from "../internal/deleteEach.ts"
import * as Document from "../internal/document.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag, repeated, switchFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as Pages from "../internal/pages.ts"
import * as Shell from "../internal/shell.ts"
import * as WholeNumber from "../internal/wholeNumber.ts"
import * as Output from "../Output.ts"
import * as Table from "../Table.ts"

const idOrName = Argument.String("template").pipe(
  Argument.withDescription("The id or the name of the Template"),
  Argument.withSchema(Template.IdOrName)
)

const signatureFlag = switchFlag("require-signature").pipe(
  Flag.withDescription("Permit only signed requests to use the Template; --no-require-signature permits all")
)

/** The name is more important than the id, because each command that needs a Template takes either. */
const columns = (now: DateTime.DateTime): ReadonlyArray<Table.Column<Template.Item>> => [
  { title: "Template", rank: 3, value: ({ id }) => id, keep: true },
  { title: "Name", rank: 1, value: ({ name }) => name, least: 16 },
  Cells.timeColumn("Modified", ({ modified }) => modified, { now, rank: 2 }),
  { title: "Signed", rank: 5, value: (item) => Cells.flag(item.require_signature_auth), keep: true },
  Cells.timeColumn("Last used", (item) => item.last_used, { now, rank: 4 })
]

type Shown = Template.Found | Template.Created | Template.Updated

const report = Effect.fnUntraced(function* (template: Shown) {
  const facts: ReadonlyArray<Facts.Fact> = [
    ["Template", template.id],
    ["Name", template.name],
    ["Signed", Cells.flag(template.require_signature_auth)],
    ["Statuses are kept", template.assembly_status_expiry],
    ["Results are kept", template.transcoding_result_expiry]
  ]
  yield* Output.report(Facts.render(facts, yield* Output.layout))
})

const list = Command.make(
  "list",
  {
    keywords: repeated(
      Flag.String("keyword").pipe(
        Flag.withMetavar("text"),
        Flag.withDescription("Only Templates with this text in name or content; may be repeated")
      )
    ),
    sort: Flag.Literals("sort", ["created", "id", "last_used", "modified", "name"]).pipe(
      Flag.withDescription("The order of the list (default: modified, latest first)"),
      Flag.withDefault("modified" as const)
    ),
    order: Flag.Literals("order", ["asc", "desc"]).pipe(
      Flag.withDescription("The direction of the order (default: desc)"),
      Flag.withDefault("desc" as const)
    ),
    page: WholeNumber.flag("page", { minimum: 1 }).pipe(
      Flag.withDescription("The page number, from 1 (default: 1)"),
      Flag.withDefault(1)
    ),
    pageSize: WholeNumber.flag("page-size", { minimum: 1, maximum: 5000 }).pipe(
      Flag.withDescription("Templates per page, 1 to 5000 (default: 50)"),
      Flag.withDefault(50)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, ...query }) {
    const found = yield* Templates.list(query)
    yield* Pages.check(found, { page: query.page, pageSize: query.pageSize, what: "Templates" })
    if (json) return yield* Output.json(Template.Page)(found)
    const layout = yield* Output.layout
    yield* Output.report(Table.render(columns(yield* DateTime.now), found.items, { ...layout, empty: "no Templates" }))
    if (found.count !== undefined && found.count > found.items.length) {
      yield* Output.lines(["", `page ${query.page}: ${found.items.length} of ${found.count} Templates`])
    }
  })
).pipe(
  Command.withDescription("List Templates, latest change first"),
  Command.withExamples([
    { command: "assembly templates list --sort name --order asc", description: "Sort by name" },
    { command: "assembly templates list --keyword /image/resize", description: "Templates that use a robot" }
  ])
)

const get = Command.make(
  "get",
  {
    template: idOrName,
    content: switchFlag("content").pipe(
      Flag.withDescription("Print only the content, as the JSON that templates create and templates update read"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ content, json, template }) {
    const found = yield* Templates.get(template)
    if (json) return yield* Output.json(Template.Found)(found)
    if (!content) {
      yield* report(found)
      yield* Output.lines([""])
    }
    yield* Output.json(Template.StoredContent)(found.content)
  })
).pipe(
  Command.withDescription("Show a Template and its Steps"),
  Command.withExamples([
    { command: "assembly templates get thumbnails", description: "Show a Template by its name" },
    { command: "assembly templates get --content thumbnails > thumbnails.json", description: "Save its content" }
  ])
)

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("The name of the Template"),
      Argument.withSchema(Template.IdOrName)
    ),
    file: Argument.String("file").pipe(
      Argument.withDescription('A JSON file with the content, such as {"steps": …}; - is the standard input')
    ),
    requireSignatureAuth: Flag.optional(signatureFlag),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ file, json, name, requireSignatureAuth }) {
    const template = yield* Document.read(Template.Content, file)
    const created = yield* Templates.create({ name, template, ...given({ requireSignatureAuth }) })
    if (json) return yield* Output.json(Template.Created)(created)
    yield* report(created)
    yield* NextCommand.suggest({ args: `upload <file> --template ${Shell.word(created.name)}` })
  })
).pipe(
  Command.withDescription("Create a Template from a JSON file"),
  Command.withExamples([
    { command: "assembly templates create thumbnails thumbnails.json", description: "Create a Template" },
    { command: "jq . content.json | assembly templates create thumbnails -", description: "From the standard input" }
  ])
)

interface Change {
  readonly name: Option.Option<string>
  readonly file: Option.Option<string>
  readonly requireSignatureAuth: Option.Option<boolean>
}

const namesChange = ({ file, name, requireSignatureAuth }: Change) =>
  Option.isSome(name) || Option.isSome(file) || Option.isSome(requireSignatureAuth)
    ? Effect.void
    : Effect.fail(
        new CliError.ValidationError({ message: "give at least one of --name, --file and --require-signature" })
      )

const update = Command.make(
  "update",
  {
    template: idOrName,
    name: Flag.String("name").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("The new name"),
      Flag.withSchema(Template.IdOrName),
      Flag.optional
    ),
    file: Flag.String("file").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("A JSON file with the new content, which replaces the old; - is the standard input"),
      Flag.optional
    ),
    requireSignatureAuth: Flag.optional(signatureFlag),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ file, json, name, requireSignatureAuth, template: id }) {
    const template = yield* Document.readGiven(Template.Content, file)
    const updated = yield* Templates.update(id, given({ name, template, requireSignatureAuth }))
    yield* json ? Output.json(Template.Updated)(updated) : report(updated)
  })
).pipe(
  Command.validate((input) => namesChange(input)),
  Command.withDescription("Change the name, the content or the settings of a Template"),
  Command.withExamples([
    { command: "assembly templates update --file thumbnails.json thumbnails", description: "Replace the content" },
    { command: "assembly templates update --no-require-signature thumbnails", description: "Allow unsigned requests" }
  ])
)

const remove = Command.make(
  "delete",
  {
    templates: Argument.String("templates").pipe(
      Argument.withDescription("The ids or the names of the Templates"),
      Argument.withSchema(Template.IdOrName),
      Argument.variadic({ min: 1 })
    ),
    yes: Confirm.yesFlag
  },
  Effect.fnUntraced(function* ({ templates, yes }) {
    const describe = (template: string) =>
      Effect.map(Templates.get(template), ({ id, name }) => (id === template ? name : id))
    yield* Confirm.deletion(
      { ids: templates, one: "Template", many: "Templates", describe },
      yes || templates.length === 1
    )
    yield* deleteEach(templates, Templates.delete)
  })
).pipe(
  Command.withDescription("Delete Templates. Several are deleted only after a question or with --yes"),
  Command.withExamples([
    { command: "assembly templates delete thumbnails", description: "Delete a Template" },
    { command: "assembly templates delete --yes thumbnails previews", description: "Delete two without a question" }
  ])
)

/** `assembly templates`: the Templates of the Workspace. */
export const templates = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  Command.make("templates").pipe(
    Command.withSubcommands([
      Command.provide(list, service),
      Command.provide(get, service),
      Command.provide(create, service),
      Command.provide(update, service),
      Command.provide(remove, service)
    ]),
    Command.withExamples([
      { command: "assembly templates list", description: "The Templates of the Workspace" },
      { command: "assembly templates create thumbnails thumbnails.json", description: "Create a Template" }
    ])
  )
