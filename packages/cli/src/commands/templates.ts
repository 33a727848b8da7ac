import * as Templates from "@assembly-effect/api/Templates"
import * as Template from "@assembly-effect/schema/Template"
import { Argument, Flag } from "effect/cli"
import { Effect } from "../internal/effect.ts"
import * as Document from "../internal/document.ts"
import { Cli, Output, Table, Text } from "../internal/index.ts"
import * as Shown from "../internal/assembly.ts"
import * as Resource from "../internal/resource.ts"

const named = (name: string) => Argument.withSchema(Cli.argument(name), Template.IdOrName)

const template = named("template")

const requireSignatureAuth = Cli.choice("require-signature")

const factsOf = (one: Template.Found | Template.Created | Template.Updated): ReadonlyArray<Table.Fact> => [
  ["Template", one.id],
  ["Name", one.name],
  ["Signed", Table.flag(one.require_signature_auth)],
  ["Statuses are kept", one.assembly_status_expiry],
  ["Results are kept", one.transcoding_result_expiry]
]

/** The name is more important than the id, because each command that needs a Template takes either. */
const columns = ({ now }: Output.Layout): ReadonlyArray<Table.Column<Template.Item>> => [
  { title: "Template", value: ({ id }) => id, keep: true },
  { title: "Name", value: ({ name }) => name, least: 16 },
  Table.timeColumn("Modified", ({ modified }) => modified, now),
  { title: "Signed", value: (item) => Table.flag(item.require_signature_auth), keep: true },
  Table.timeColumn("Last used", (item) => item.last_used, now)
]

const list = Cli.command(
  "templates list",
  {
    keywords: Cli.repeated(Cli.text("keyword", "text")),
    sort: Flag.Literals("sort", ["created", "id", "last_used", "modified", "name"]).pipe(
      Flag.withDefault("modified" as const)
    ),
    order: Flag.Literals("order", ["asc", "desc"]).pipe(Flag.withDefault("desc" as const)),
    ...Resource.numberedFlags(Template.Item)
  },
  ({ keywords, order, sort, ...asked }) => {
    const listing = { what: "Templates", page: Template.Page, item: Template.Item, columns }
    return Resource.numbered(listing, asked, Templates, { keywords, order, sort })
  }
)

const get = Cli.command(
  "templates get",
  { template, content: Cli.flag("content"), json: Cli.json(Template.Found) },
  Effect.fnUntraced(function* ({ content, json, template: id }) {
    const found = yield* Templates.get(id)
    if (json) return yield* Output.json(Template.Found, found, json)
    if (!content) yield* Output.report([...Table.facts(factsOf(found), yield* Output.layout), Text.blank])
    yield* Output.json(Template.StoredContent, found.content)
  })
)

const create = Cli.command(
  "templates create",
  { name: named("name"), file: Cli.argument("file"), requireSignatureAuth, json: Cli.json(Template.Created) },
  Effect.fnUntraced(function* ({ file, json, name, ...options }) {
    const content = yield* Document.read(Template.Content, file)
    const created = yield* Templates.create({ name, template: content, ...Cli.given(options) })
    yield* Output.show(json, Template.Created, created, (layout) => Table.facts(factsOf(created), layout))
    if (!json) yield* Shown.suggest(`upload <file> --template ${Text.word(created.name)}`)
  })
)

const update = Cli.query(
  "templates update",
  {
    template,
    name: Flag.optional(Flag.withSchema(Cli.text("name", "name"), Template.IdOrName)),
    file: Cli.optional("file", "file"),
    requireSignatureAuth
  },
  Template.Updated,
  Effect.fnUntraced(function* ({ file, template: id, ...options }) {
    const content = yield* Document.readGiven(Template.Content, file)
    return yield* Templates.update(id, Cli.given({ ...options, template: content }))
  }),
  (updated, layout) => Table.facts(factsOf(updated), layout),
  ({ template: _template, ...change }) => Cli.noChange(change, "--name, --file and --require-signature")
)

const remove = Resource.command("templates delete", named("templates"), ["Template", "Templates"], {
  describe: (one) => Effect.map(Templates.get(one), ({ id, name }) => (id === one ? name : id)),
  remove: Templates.delete
})

/** `assembly templates`: the Templates of the Workspace. */
export const templates = Cli.group("templates", [list, get, create, update, remove])
