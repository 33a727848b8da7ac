/** The commands about Auth Keys and bearer tokens. */
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import { Argument, Flag } from "effect/cli"
import { Arr, Config, DateTime, Effect, Option, Redacted, Schema } from "../internal/effect.ts"
import { Cli, Failure, Output, Table } from "../internal/index.ts"
import * as Resource from "../internal/resource.ts"

const id = Argument.withSchema(Cli.argument("id"), AuthKey.AuthKeyId)

const scope = Flag.withSchema(Cli.text("scope", "scope"), Auth.Scope)

const settings = {
  description: Cli.optional("description", "text"),
  canShowAuthSecret: Cli.choice("can-show-secret"),
  isAllowedForSmartCdn: Cli.choice("smart-cdn"),
  signatureAlgo: Flag.Literals("algorithm", Auth.SignatureAlgorithm.literals).pipe(Flag.optional)
}

/** The Auth Key without its secret. */
const hidden = ({ auth_secret: _secret, ...key }: AuthKey.AuthKey): AuthKey.AuthKey => key

/** The response with a new Auth Key, from which the secret may be left out. */
const Created = Schema.Struct({ ...AuthKey.Created.fields, auth_key: AuthKey.AuthKey })

const scopesOf = ({ scope: scopes }: AuthKey.AuthKey): string => Table.known(scopes?.join(" "))

/** The id is the most important value, because `update`, `delete` and `secret` take it. */
const columns = ({ now }: Output.Layout): ReadonlyArray<Table.Column<AuthKey.AuthKey>> => [
  { title: "ID", value: (key) => key.id, keep: true },
  { title: "Auth Key", value: (key) => key.auth_key, keep: true },
  { title: "Description", value: ({ description }) => Table.known(description) },
  { title: "Scopes", value: scopesOf },
  { title: "Active", value: (key) => Table.flag(key.is_active), keep: true },
  Table.timeColumn("Last used", (key) => key.last_used, now)
]

const factsOf = (key: AuthKey.AuthKey): ReadonlyArray<Table.Fact> => [
  ["ID", key.id],
  ["Auth Key", key.auth_key],
  ["Description", key.description],
  ["Scopes", scopesOf(key)],
  ["Active", Table.flag(key.is_active)],
  ["Smart CDN", Table.flag(key.is_allowed_for_smartcdn)],
  ["Algorithm", key.signature_algo],
  ["Secret can be shown", Table.flag(key.can_show_auth_secret)],
  ["Secret", key.auth_secret && Redacted.value(key.auth_secret)]
]

const list = Cli.query(
  "keys list",
  {},
  AuthKey.Listing,
  () => Effect.map(AuthKeys.list, (found) => ({ ...found, auth_keys: found.auth_keys.map(hidden) })),
  (found, layout) => Table.render(columns(layout), found.auth_keys, { ...layout, empty: "no Auth Keys" })
)

const create = Cli.query(
  "keys create",
  { scopes: Flag.atLeast(scope, 1), ...settings, showSecret: Cli.showSecret },
  Created,
  ({ scopes: [first = "read", ...others], showSecret, ...options }) =>
    Effect.map(AuthKeys.create({ scope: [first, ...others], ...Cli.given(options) }), (created) =>
      showSecret ? created : { ...created, auth_key: hidden(created.auth_key) }
    ),
  (created, layout) => Table.facts(factsOf(created.auth_key), layout),
  // A key whose secret can be printed neither now nor later is useless.
  ({ canShowAuthSecret, showSecret }) =>
    showSecret || Option.contains(canShowAuthSecret, true)
      ? undefined
      : "give --show-secret to print the secret now, or --can-show-secret to be able to print it later"
)

const update = Cli.query(
  "keys update",
  { id, scopes: Cli.repeated(scope), ...settings },
  AuthKey.Updated,
  Effect.fnUntraced(function* ({ id: authKeyId, scopes, ...options }) {
    const given = Cli.given({ scope: Option.liftPredicate(scopes, Arr.isReadonlyArrayNonEmpty), ...options })
    const updated = yield* AuthKeys.update(authKeyId, given)
    return updated.auth_key === undefined ? updated : { ...updated, auth_key: hidden(updated.auth_key) }
  }),
  ({ auth_key: key }, layout, input) =>
    key === undefined ? Output.sentence(`updated ${input.id}`) : Table.facts(factsOf(key), layout),
  ({ id: _id, scopes, ...options }) =>
    scopes.length > 0
      ? undefined
      : Cli.noChange(options, "--scope, --description, --can-show-secret, --smart-cdn and --algorithm")
)

/** The descriptions of all Auth Keys are in one response. */
const describe = Effect.fnUntraced(function* (one: string) {
  const { auth_keys: all } = yield* AuthKeys.list
  const found = all.find((key) => key.id === one)
  if (found !== undefined) return found.description
  const own = all.find((key) => key.auth_key === one)
  return yield* own === undefined
    ? Failure.failed(`there is no Auth Key ${one}`, "Run assembly keys list to see what there is.")
    : Failure.failed(`${one} is the Auth Key itself`, `Its id is ${own.id}.`)
})

const remove = Resource.command(
  "keys delete",
  Argument.withSchema(Cli.argument("ids"), AuthKey.AuthKeyId),
  ["Auth Key", "Auth Keys"],
  { describe, remove: AuthKeys.delete, always: true }
)

const secret = Cli.query(
  "keys secret",
  { id, showSecret: Cli.showSecret },
  AuthKey.Shown,
  ({ id: authKeyId }) => AuthKeys.secret(authKeyId),
  (shown) => Output.sentence(Redacted.value(shown.auth_secret)),
  ({ showSecret }) => (showSecret ? undefined : "give --show-secret to print the secret")
)

const scopes = Cli.query(
  "keys scopes",
  {},
  AuthKey.ScopeListing,
  () => AuthKeys.scopes,
  (found) => found.scopes.flatMap(Output.sentence)
)

/** `assembly keys`: the Auth Keys of the Workspace. */
export const keys = Cli.group("keys", [list, create, update, remove, secret, scopes])

/** A token as JSON. `expires_at` is missing if the service does not say when the token expires. */
const Printed = Schema.Struct({ access_token: Schema.String, expires_at: Schema.optionalKey(Schema.String) })

/** `assembly token`: prints a bearer token for another program. */
export const token = Cli.local(
  "token",
  { scopes: Cli.repeated(scope), json: Cli.json(Printed) },
  Effect.fnUntraced(function* ({ json, ...asked }) {
    // The other commands of this module need neither.
    const { AssemblyNode } = yield* Effect.promise(() => import("@assembly-effect/node"))
    const Tokens = yield* Effect.promise(() => import("@assembly-effect/auth/Tokens"))
    const { expiresAt, value } = yield* Effect.gen(function* () {
      const tokens = yield* Tokens.make(asked.scopes.length === 0 ? {} : asked)
      // The client has checked the URL.
      const baseUrl = SecureUrl.SecureUrl.make(yield* Config.String("ASSEMBLY_BASE_URL"))
      return yield* tokens.get({ baseUrl })
    }).pipe(Effect.provide(AssemblyNode.layerConfig()))
    const access_token = Redacted.value(value)
    const expiry = expiresAt === undefined ? {} : { expires_at: DateTime.formatIso(expiresAt) }
    yield* Output.show(json, Printed, { access_token, ...expiry }, () => Output.sentence(access_token))
  }, Cli.configured)
)
