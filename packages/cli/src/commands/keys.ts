import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Auth from "@assembly-effect/schema/Auth"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Arr from "effect/Array"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Cells from "../internal/cells.ts"
import * as Confirm from "../internal/confirm.ts"
import { deleteEach } from "../internal/deleteEach.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag, repeated, showSecretFlag, switchFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as Output from "../Output.ts"
import * as Table from "../Table.ts"

const id = Argument.String("id").pipe(
  Argument.withDescription("The id of the Auth Key, which is not the key itself"),
  Argument.withSchema(AuthKey.AuthKeyId)
)

const scopeFlag = Flag.String("scope").pipe(
  Flag.withMetavar("scope"),
  Flag.withSchema(Auth.Scope),
  Flag.withDescription("A scope of the key, such as assemblies:read; may be repeated")
)

const settings = {
  description: Flag.String("description").pipe(
    Flag.withMetavar("text"),
    Flag.withDescription("What the key is for"),
    Flag.optional
  ),
  canShowAuthSecret: switchFlag("can-show-secret").pipe(
    Flag.withDescription("Permit assembly keys secret to show the secret later; --no-can-show-secret forbids it"),
    Flag.optional
  ),
  isAllowedForSmartCdn: switchFlag("smart-cdn").pipe(
    Flag.withDescription("Permit the key to sign URLs of the Smart CDN; --no-smart-cdn forbids it"),
    Flag.optional
  ),
  signatureAlgo: Flag.Literals("algorithm", AuthKey.SignatureAlgorithm.literals).pipe(
    Flag.withDescription("The only algorithm that the service accepts in signatures with this key"),
    Flag.optional
  )
}

/** The Auth Key without its secret. */
const hidden = ({ auth_secret: _secret, ...key }: AuthKey.AuthKey): AuthKey.AuthKey => key

/** The response with a new Auth Key, from which the secret may be left out. */
const Created = Schema.Struct({ ...AuthKey.Created.fields, auth_key: AuthKey.AuthKey })

const scopesOf = ({ scope }: AuthKey.AuthKey): string => Cells.text(scope?.join(" "))

/** The id is the most important value, because `update`, `delete` and `secret` take it. */
const columns = (now: DateTime.DateTime): ReadonlyArray<Table.Column<AuthKey.AuthKey>> => [
  { title: "ID", rank: 1, value: (key) => key.id, keep: true },
  { title: "Auth Key", rank: 5, value: (key) => key.auth_key, keep: true },
  { title: "Description", rank: 2, value: ({ description }) => Cells.text(description) },
  { title: "Scopes", rank: 6, value: scopesOf },
  { title: "Active", rank: 3, value: (key) => Cells.flag(key.is_active), keep: true },
  Cells.timeColumn("Last used", (key) => key.last_used, { now, rank: 4 })
]

const report = Effect.fnUntraced(function* (key: AuthKey.AuthKey, secret?: Redacted.Redacted) {
  const facts: ReadonlyArray<Facts.Fact> = [
    ["ID", key.id],
    ["Auth Key", key.auth_key],
    ["Description", key.description],
    ["Scopes", scopesOf(key)],
    ["Active", Cells.flag(key.is_active)],
    ["Smart CDN", Cells.flag(key.is_allowed_for_smartcdn)],
    ["Algorithm", key.signature_algo],
    ["Secret can be shown", Cells.flag(key.can_show_auth_secret)],
    ["Secret", secret === undefined ? undefined : Redacted.value(secret)]
  ]
  yield* Output.report(Facts.render(facts, yield* Output.layout))
})

const list = Command.make(
  "list",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const found = yield* AuthKeys.list
    const keys = found.auth_keys.map(hidden)
    if (json) return yield* Output.json(AuthKey.Listing)({ ...found, auth_keys: keys })
    const layout = yield* Output.layout
    yield* Output.report(Table.render(columns(yield* DateTime.now), keys, { ...layout, empty: "no Auth Keys" }))
  })
).pipe(
  Command.withDescription("List the Auth Keys of the Workspace"),
  Command.withExamples([
    { command: "assembly keys list", description: "The Auth Keys, without their secrets" },
    { command: "assembly keys list --json | jq", description: "The same for another program" }
  ])
)

interface Creation {
  readonly scopes: ReadonlyArray<Auth.Scope>
  readonly showSecret: boolean
  readonly canShowAuthSecret: Option.Option<boolean>
}

/**
 * Fails if no scope is given. Also fails if the secret of the new key could be printed neither now nor later, because
 * such a key is useless.
 */
const keepsSecret = ({ canShowAuthSecret, scopes, showSecret }: Creation) => {
  if (!Arr.isReadonlyArrayNonEmpty(scopes)) {
    return Effect.fail(new CliError.ValidationError({ message: "give at least one --scope" }))
  }
  if (showSecret || Option.contains(canShowAuthSecret, true)) return Effect.succeed(scopes)
  return Effect.fail(
    new CliError.ValidationError({
      message: "give --show-secret to print the secret now, or --can-show-secret to be able to print it later"
    })
  )
}

const create = Command.make(
  "create",
  { scopes: Flag.atLeast(scopeFlag, 1), ...settings, showSecret: showSecretFlag, json: jsonFlag },
  Effect.fnUntraced(function* ({ json, scopes, showSecret, ...options }) {
    const scope = yield* keepsSecret({ scopes, showSecret, ...options })
    const created = yield* AuthKeys.create({ scope, ...given(options) })
    const key = created.auth_key
    if (json) return yield* Output.json(Created)({ ...created, auth_key: showSecret ? key : hidden(key) })
    yield* report(key, showSecret ? key.auth_secret : undefined)
  })
).pipe(
  Command.validate((input) => Effect.asVoid(keepsSecret(input))),
  Command.withDescription("Create an Auth Key"),
  Command.withExamples([
    {
      command: "assembly keys create --scope assemblies:read --description dashboard --show-secret",
      description: "A key that reads Assemblies"
    },
    {
      command: "assembly keys create --scope read --show-secret --json > key.json",
      description: "Save a key with its secret"
    }
  ])
)

interface Change {
  readonly scopes: ReadonlyArray<Auth.Scope>
  readonly description: Option.Option<string>
  readonly canShowAuthSecret: Option.Option<boolean>
  readonly isAllowedForSmartCdn: Option.Option<boolean>
  readonly signatureAlgo: Option.Option<AuthKey.SignatureAlgorithm>
}

const namesChange = ({ scopes, ...options }: Change) =>
  scopes.length > 0 || Object.keys(given(options)).length > 0
    ? Effect.void
    : Effect.fail(
        new CliError.ValidationError({
          message: "give at least one of --scope, --description, --can-show-secret, --smart-cdn and --algorithm"
        })
      )

const update = Command.make(
  "update",
  { id, scopes: repeated(scopeFlag), ...settings, json: jsonFlag },
  Effect.fnUntraced(function* ({ id: authKeyId, json, scopes, ...options }) {
    const scope = Option.liftPredicate(scopes, Arr.isReadonlyArrayNonEmpty)
    const updated = yield* AuthKeys.update(authKeyId, given({ scope, ...options }))
    const key = updated.auth_key === undefined ? undefined : hidden(updated.auth_key)
    if (json) {
      return yield* Output.json(AuthKey.Updated)(key === undefined ? updated : { ...updated, auth_key: key })
    }
    yield* key === undefined ? Output.lines([`updated ${authKeyId}`]) : report(key)
  })
).pipe(
  Command.validate(({ id: _id, json: _json, ...change }) => namesChange(change)),
  Command.withDescription("Change an Auth Key. --scope replaces all scopes; what is not given stays as it is"),
  Command.withExamples([
    { command: "assembly keys update --scope read --no-can-show-secret <id>", description: "Restrict a key" },
    {
      command: "assembly keys update --scope assemblies:read --scope assemblies:write <id>",
      description: "Replace the scopes"
    }
  ])
)

const remove = Command.make(
  "delete",
  {
    ids: Argument.String("ids").pipe(
      Argument.withDescription("The ids of the Auth Keys"),
      Argument.withSchema(AuthKey.AuthKeyId),
      Argument.variadic({ min: 1 })
    ),
    yes: Confirm.yesFlag
  },
  Effect.fnUntraced(function* ({ ids, yes }) {
    const listing = yield* Effect.cached(AuthKeys.list)
    const describe = (one: string) =>
      Effect.map(listing, ({ auth_keys: keys }) => keys.find((key) => key.id === one)?.description)
    yield* Confirm.deletion({ ids, one: "Auth Key", many: "Auth Keys", describe }, yes)
    yield* deleteEach(ids, AuthKeys.delete)
  })
).pipe(
  Command.withDescription(
    "Delete Auth Keys, after a question or with --yes. Programs with these keys are refused from then on"
  ),
  Command.withExamples([
    { command: "assembly keys delete <id>", description: "Delete a key after a question" },
    { command: "assembly keys delete --yes <id>", description: "Delete a key without a question" }
  ])
)

const wantsSecret = ({ showSecret }: { readonly showSecret: boolean }) =>
  showSecret
    ? Effect.void
    : Effect.fail(new CliError.ValidationError({ message: "give --show-secret to print the secret" }))

const secret = Command.make(
  "secret",
  {
    id,
    showSecret: showSecretFlag.pipe(Flag.withDescription("Required: make sure that nobody else sees the output")),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ id: authKeyId, json }) {
    const shown = yield* AuthKeys.secret(authKeyId)
    yield* json ? Output.json(AuthKey.Shown)(shown) : Output.lines([Redacted.value(shown.auth_secret)])
  })
).pipe(
  Command.validate((input) => wantsSecret(input)),
  Command.withDescription("Print the secret of an Auth Key, if the key permits this. Requires --show-secret"),
  Command.withExamples([
    { command: "assembly keys secret --show-secret <id>", description: "Print a secret" },
    { command: "assembly keys secret --show-secret <id> > secret.txt", description: "Save a secret" }
  ])
)

const scopes = Command.make(
  "scopes",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const found = yield* AuthKeys.scopes
    yield* json ? Output.json(AuthKey.ScopeListing)(found) : Output.lines(found.scopes)
  })
).pipe(
  Command.withDescription("List the scopes that an Auth Key may have"),
  Command.withExamples([
    { command: "assembly keys scopes", description: "One scope a line" },
    { command: "assembly keys scopes | grep assemblies", description: "The scopes of Assemblies" }
  ])
)

/** `assembly keys`: the Auth Keys of the Workspace. */
export const keys = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  Command.make("keys").pipe(
    Command.withSubcommands([
      Command.provide(list, service),
      Command.provide(create, service),
      Command.provide(update, service),
      Command.provide(remove, service),
      Command.provide(secret, service),
      Command.provide(scopes, service)
    ]),
    Command.withExamples([
      { command: "assembly keys list", description: "The Auth Keys, without their secrets" },
      {
        command: "assembly keys create --scope assemblies:read --show-secret",
        description: "A key that reads Assemblies"
      }
    ])
  )
