import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import { Argument, type Command, Flag } from "effect/cli"
import { Effect, Option, Redacted } from "../internal/effect.ts"
import * as Document from "../internal/document.ts"
import { Cli, Output, Table } from "../internal/index.ts"
import * as Resource from "../internal/resource.ts"

type Credential = TemplateCredential.Credential

const argument = Argument.withSchema(Cli.argument("credentials"), TemplateCredential.CredentialId)

/** Runs a request with a text as the id of credentials, or if no credentials have this id, with the text as their name. */
const named = <A, E extends { readonly _tag: string }, R>(
  text: TemplateCredential.CredentialId,
  run: (id: TemplateCredential.CredentialId) => Effect.Effect<A, E, R>
) =>
  Effect.catchIf(
    run(text),
    (error) => "status" in error && error.status === 404,
    (error) =>
      Effect.flatMap(TemplateCredentials.list, ({ credentials: all }) => {
        const found = all.find(({ name }) => name === text)
        return found === undefined ? Effect.fail(error) : run(found.id)
      })
  )

const content = Cli.text("content", "file")

/** The credentials without their secrets. */
const hidden = ({ content: _content, stringified: _stringified, ...rest }: Credential): Credential => rest

/** A response without the secrets of its credentials, if it has credentials. */
const withoutSecrets = <Response extends { readonly credential?: Credential | undefined }>(response: Response) =>
  response.credential === undefined ? response : { ...response, credential: hidden(response.credential) }

const secretOf = ({ content: secrets, stringified }: Credential): string | undefined => {
  if (secrets !== null && secrets !== undefined) return Table.json(Redacted.value(secrets))
  return stringified === null || stringified === undefined ? undefined : Redacted.value(stringified)
}

const factsOf = (credential: Credential, isShown: boolean): ReadonlyArray<Table.Fact> => [
  ["Credentials", credential.id],
  ["Name", credential.name],
  ["Type", credential.type],
  ["Created (UTC)", Table.minute(credential.created)],
  ["Modified (UTC)", Table.minute(credential.modified)],
  ["Content", isShown ? Table.known(secretOf(credential)) : "hidden; --show-secret shows it"]
]

/** The credentials after a change, or a sentence if the response has none. */
const changed = (credential: Credential | undefined, sentence: string, layout: Output.Layout) =>
  credential === undefined ? Output.sentence(sentence) : Table.facts(factsOf(credential, false), layout)

const columns = ({ now }: Output.Layout): ReadonlyArray<Table.Column<Credential>> => [
  { title: "Credentials", value: (credential) => credential.id, keep: true },
  { title: "Name", value: ({ name }) => name },
  { title: "Type", value: ({ type }) => type },
  Table.timeColumn("Modified", ({ created, modified }) => modified ?? created, now)
]

const list = Cli.query(
  "credentials list",
  {},
  TemplateCredential.Listing,
  () => Effect.map(TemplateCredentials.list, (found) => ({ ...found, credentials: found.credentials.map(hidden) })),
  (found, layout) => Table.render(columns(layout), found.credentials, { ...layout, empty: "no credentials" })
)

const get = Cli.query(
  "credentials get",
  { credentials: argument, showSecret: Cli.showSecret },
  TemplateCredential.Found,
  ({ credentials: text, showSecret }) =>
    Effect.map(named(text, TemplateCredentials.get), (found) =>
      showSecret ? found : { ...found, credential: hidden(found.credential) }
    ),
  ({ credential }, layout, { showSecret }) => Table.facts(factsOf(credential, showSecret), layout)
)

const fieldsOf = ({ fields }: TemplateCredential.Type) =>
  Object.entries(fields).map(([name, { requiredOnCreate }]) => (requiredOnCreate === true ? `${name}*` : name))

const typeColumns: ReadonlyArray<Table.Column<readonly [name: string, type: TemplateCredential.Type]>> = [
  { title: "Type, and its fields (* required)", value: ([name]) => name },
  { title: "Fields", value: ([, type]) => fieldsOf(type).join(", "), below: true }
]

const types = Cli.query(
  "credentials types",
  {},
  TemplateCredential.TypeListing,
  () => TemplateCredentials.types,
  (found, layout) => Table.render(typeColumns, Object.entries(found.types), { ...layout, empty: "no types" })
)

const create = Cli.query(
  "credentials create",
  { name: Cli.argument("name"), type: Cli.text("type", "type"), content },
  TemplateCredential.Created,
  Effect.fnUntraced(function* ({ content: file, name, type }) {
    const secrets = yield* Document.read(TemplateCredential.Content, file, { confidential: true })
    return withoutSecrets(yield* TemplateCredentials.create({ name, type, content: secrets }))
  }),
  ({ credential }, layout, { name }) => changed(credential, `created ${name}`, layout)
)

const identityFlags = { name: Cli.optional("name", "name"), type: Cli.optional("type", "type") }

/** The service requires name and type in each change, so the current values are read if a flag is missing. */
const identity = (
  { name, type }: Command.Command.Config.Infer<typeof identityFlags>,
  credentialId: TemplateCredential.CredentialId
) =>
  Option.isSome(name) && Option.isSome(type)
    ? Effect.succeed({ name: name.value, type: type.value })
    : Effect.map(TemplateCredentials.get(credentialId), ({ credential }) => ({
        name: Option.getOrElse(name, () => credential.name),
        type: Option.getOrElse(type, () => credential.type)
      }))

const update = Cli.query(
  "credentials update",
  { credentials: argument, ...identityFlags, content: Flag.optional(content) },
  TemplateCredential.Updated,
  Effect.fnUntraced(function* ({ credentials: text, ...change }) {
    const secrets = yield* Document.readGiven(TemplateCredential.Content, change.content, { confidential: true })
    const replace = (id: TemplateCredential.CredentialId) =>
      Effect.flatMap(identity(change, id), (about) =>
        TemplateCredentials.update(id, { ...about, ...Cli.given({ content: secrets }) })
      )
    return withoutSecrets(yield* named(text, replace))
  }),
  ({ credential }, layout, input) => changed(credential, `updated ${input.credentials}`, layout),
  ({ credentials: _credentials, ...change }) => Cli.noChange(change, "--name, --type and --content")
)

const remove = Resource.command("credentials delete", argument, ["credentials", "credentials"], {
  describe: (one) =>
    Effect.map(named(one, TemplateCredentials.get), ({ credential: { name, type } }) => `${name} (${type})`),
  remove: (one) => named(one, TemplateCredentials.delete)
})

/** `assembly credentials`: the secrets for other services that Templates use by name. */
export const credentials = Cli.group("credentials", [list, get, types, create, update, remove])
