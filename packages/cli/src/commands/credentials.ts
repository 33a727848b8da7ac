import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Cells from "../internal/cells.ts"
import * as Confirm from "../internal/confirm.ts"
import { deleteEach } from "../internal/deleteEach.ts"
import * as Document from "../internal/document.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag, showSecretFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as Output from "../Output.ts"
import * as Table from "../Table.ts"

const id = Argument.String("credentials").pipe(
  Argument.withDescription("The id of the credentials"),
  Argument.withSchema(TemplateCredential.CredentialId)
)

const contentFlag = Flag.String("content").pipe(
  Flag.withDescription('A JSON file with the secrets, such as {"key": …}; - is the standard input'),
  Flag.withMetavar("file")
)

/** The credentials without their secrets. */
const hidden = ({
  content: _content,
  stringified: _stringified,
  ...rest
}: TemplateCredential.Credential): TemplateCredential.Credential => rest

/**
 * The response with `credential` in place of its own credentials. A response without credentials stays unchanged.
 */
const replace = <Response extends TemplateCredential.Created | TemplateCredential.Updated>(
  response: Response,
  credential: TemplateCredential.Credential | undefined
): Response => (credential === undefined ? response : { ...response, credential })

const columns = (now: DateTime.DateTime): ReadonlyArray<Table.Column<TemplateCredential.Credential>> => [
  { title: "Credentials", rank: 1, value: (credential) => credential.id, keep: true },
  { title: "Name", rank: 2, value: ({ name }) => name },
  { title: "Type", rank: 3, value: ({ type }) => type },
  Cells.timeColumn("Modified", ({ created, modified }) => modified ?? created, { now, rank: 4 })
]

const secretOf = ({ content, stringified }: TemplateCredential.Credential): string | undefined => {
  if (content !== null && content !== undefined) return Cells.json(Redacted.value(content))
  return stringified === null || stringified === undefined ? undefined : Redacted.value(stringified)
}

const report = Effect.fnUntraced(function* (credential: TemplateCredential.Credential, isShown: boolean) {
  const facts: ReadonlyArray<Facts.Fact> = [
    ["Credentials", credential.id],
    ["Name", credential.name],
    ["Type", credential.type],
    ["Created (UTC)", Cells.minute(credential.created)],
    ["Modified (UTC)", Cells.minute(credential.modified)],
    ["Content", isShown ? Cells.text(secretOf(credential)) : "hidden; --show-secret shows it"]
  ]
  yield* Output.report(Facts.render(facts, yield* Output.layout))
})

const list = Command.make(
  "list",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const found = yield* TemplateCredentials.list
    const credentials = found.credentials.map(hidden)
    if (json) return yield* Output.json(TemplateCredential.Listing)({ ...found, credentials })
    const layout = yield* Output.layout
    yield* Output.report(
      Table.render(columns(yield* DateTime.now), credentials, { ...layout, empty: "no credentials" })
    )
  })
).pipe(
  Command.withDescription("List Template Credentials, without their secrets"),
  Command.withExamples([
    { command: "assembly credentials list", description: "The Template Credentials of the Workspace" },
    { command: "assembly credentials list --json | jq", description: "The same for another program" }
  ])
)

const get = Command.make(
  "get",
  { id, showSecret: showSecretFlag, json: jsonFlag },
  Effect.fnUntraced(function* ({ id: credentialId, json, showSecret }) {
    const found = yield* TemplateCredentials.get(credentialId)
    if (!json) return yield* report(found.credential, showSecret)
    const credential = showSecret ? found.credential : hidden(found.credential)
    yield* Output.json(TemplateCredential.Found)({ ...found, credential })
  })
).pipe(
  Command.withDescription("Show Template Credentials"),
  Command.withExamples([
    { command: "assembly credentials get <id>", description: "Without the secrets" },
    { command: "assembly credentials get --show-secret <id>", description: "With the secrets" }
  ])
)

interface TypeRow {
  readonly name: string
  readonly type: TemplateCredential.Type
}

const typeColumns: ReadonlyArray<Table.Column<TypeRow>> = [
  { title: "Type", value: ({ name }) => name, keep: true },
  {
    title: "Fields (* required)",
    value: ({ type }) =>
      Object.entries(type.fields)
        .map(([name, { requiredOnCreate }]) => (requiredOnCreate === true ? `${name}*` : name))
        .join(", "),
    wrap: true
  }
]

const types = Command.make(
  "types",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const found = yield* TemplateCredentials.types
    if (json) return yield* Output.json(TemplateCredential.TypeListing)(found)
    const rows = Object.entries(found.types).map(([name, type]) => ({ name, type }))
    yield* Output.report(Table.render(typeColumns, rows, { ...(yield* Output.layout), empty: "no types" }))
  })
).pipe(
  Command.withDescription("List the types of Template Credentials and their fields"),
  Command.withExamples([
    { command: "assembly credentials types", description: "All types" },
    { command: "assembly credentials types --json | jq .types.s3", description: "The fields of one type" }
  ])
)

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name that Templates use")),
    type: Flag.String("type").pipe(
      Flag.withMetavar("type"),
      Flag.withDescription("The type; assembly credentials types lists all")
    ),
    content: contentFlag,
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ content: file, json, name, type }) {
    const content = yield* Document.read(TemplateCredential.Content, file, { confidential: true })
    const created = yield* TemplateCredentials.create({ name, type, content })
    const credential = created.credential === undefined ? undefined : hidden(created.credential)
    if (json) return yield* Output.json(TemplateCredential.Created)(replace(created, credential))
    yield* credential === undefined ? Output.lines([`created ${name}`]) : report(credential, false)
  })
).pipe(
  Command.withDescription("Create Template Credentials. The secrets come from a file, not from the arguments"),
  Command.withExamples([
    { command: "assembly credentials create photos --type s3 --content s3.json", description: "From a file" },
    { command: "assembly credentials create photos --type s3 --content - < s3.json", description: "From a pipe" }
  ])
)

interface Change {
  readonly name: Option.Option<string>
  readonly type: Option.Option<string>
  readonly content: Option.Option<string>
}

const namesChange = ({ content, name, type }: Change) =>
  Option.isSome(name) || Option.isSome(type) || Option.isSome(content)
    ? Effect.void
    : Effect.fail(new CliError.ValidationError({ message: "give at least one of --name, --type and --content" }))

/** The service requires name and type in each change, so the current values are read if a flag is missing. */
const identity = ({ name, type }: Change, credentialId: TemplateCredential.CredentialId) =>
  Option.isSome(name) && Option.isSome(type)
    ? Effect.succeed({ name: name.value, type: type.value })
    : Effect.map(TemplateCredentials.get(credentialId), ({ credential }) => ({
        name: Option.getOrElse(name, () => credential.name),
        type: Option.getOrElse(type, () => credential.type)
      }))

const update = Command.make(
  "update",
  {
    id,
    name: Flag.String("name").pipe(Flag.withMetavar("name"), Flag.withDescription("The new name"), Flag.optional),
    type: Flag.String("type").pipe(Flag.withMetavar("type"), Flag.withDescription("The new type"), Flag.optional),
    content: Flag.optional(contentFlag),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ id: credentialId, json, ...change }) {
    const content = yield* Document.readGiven(TemplateCredential.Content, change.content, { confidential: true })
    const request = { ...(yield* identity(change, credentialId)), ...given({ content }) }
    const updated = yield* TemplateCredentials.update(credentialId, request)
    const credential = updated.credential === undefined ? undefined : hidden(updated.credential)
    if (json) return yield* Output.json(TemplateCredential.Updated)(replace(updated, credential))
    yield* credential === undefined ? Output.lines([`updated ${credentialId}`]) : report(credential, false)
  })
).pipe(
  Command.validate((input) => namesChange(input)),
  Command.withDescription("Change Template Credentials"),
  Command.withExamples([
    { command: "assembly credentials update --content new.json <id>", description: "Replace the secrets" },
    { command: "assembly credentials update --name photos <id>", description: "Rename them" }
  ])
)

const remove = Command.make(
  "delete",
  {
    ids: Argument.String("credentials").pipe(
      Argument.withDescription("The ids of the credentials"),
      Argument.withSchema(TemplateCredential.CredentialId),
      Argument.variadic({ min: 1 })
    ),
    yes: Confirm.yesFlag
  },
  Effect.fnUntraced(function* ({ ids, yes }) {
    const describe = (one: TemplateCredential.CredentialId) =>
      Effect.map(TemplateCredentials.get(one), ({ credential }) => `${credential.name} (${credential.type})`)
    yield* Confirm.deletion({ ids, one: "credentials", many: "credentials", describe }, yes || ids.length === 1)
    yield* deleteEach(ids, TemplateCredentials.delete)
  })
).pipe(
  Command.withDescription("Delete Template Credentials. Several are deleted only after a question or with --yes"),
  Command.withExamples([
    { command: "assembly credentials delete <id>", description: "Delete one" },
    { command: "assembly credentials delete --yes <id> <id>", description: "Delete two without a question" }
  ])
)

/** `assembly credentials`: the secrets for other services that Templates use by name. */
export const credentials = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  Command.make("credentials").pipe(
    Command.withSubcommands([
      Command.provide(list, service),
      Command.provide(get, service),
      Command.provide(types, service),
      Command.provide(create, service),
      Command.provide(update, service),
      Command.provide(remove, service)
    ]),
    Command.withExamples([
      { command: "assembly credentials types", description: "The types and their fields" },
      { command: "assembly credentials create photos --type s3 --content s3.json", description: "From a file" }
    ])
  )
