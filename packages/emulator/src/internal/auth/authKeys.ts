import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Record from "@assembly-effect/schema/AuthKey"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../limits.ts"
import * as Ids from "../data/ids.ts"
import * as Statement from "../data/statement.ts"
import { type Refused, refused } from "../http/refusal.ts"

/** Returns whether `scopes` grant `scope`. `read` grants every `…:read` scope; `write` grants every `…:write` scope. */
export const grants = (scopes: ReadonlyArray<Auth.Scope>, scope: Auth.Scope): boolean =>
  scopes.includes(scope) || scopes.includes(scope.slice(scope.indexOf(":") + 1))

/** Returns the scopes in `asked` that `scopes` do not grant. */
export const lacking = (
  scopes: ReadonlyArray<Auth.Scope>,
  asked: ReadonlyArray<Auth.Scope>
): ReadonlyArray<Auth.Scope> => asked.filter((scope) => !grants(scopes, scope))

/** Returns scopes that grant exactly what both `one` and `other` grant. */
export const shared = (one: ReadonlyArray<Auth.Scope>, other: ReadonlyArray<Auth.Scope>): ReadonlyArray<Auth.Scope> => [
  ...new Set([...one.filter((scope) => grants(other, scope)), ...other.filter((scope) => grants(one, scope))])
]

const Time = Schema.NullOr(Schema.DateTimeUtcFromMillis)

/** What a request can set. `signature_algo` is the only algorithm whose signatures are accepted; null permits all. */
const settings = {
  description: Schema.NullOr(Schema.String),
  scopes: Schema.fromJsonString(Schema.Array(Auth.Scope)),
  signature_algo: Schema.NullOr(Auth.SignatureAlgorithm),
  is_allowed_for_smartcdn: Schema.BooleanFromBit,
  can_show_auth_secret: Schema.BooleanFromBit
}

type Settings = Schema.Struct.Type<typeof settings>

const defaults = {
  description: null,
  scopes: [],
  signature_algo: null,
  is_allowed_for_smartcdn: false,
  can_show_auth_secret: false
}

/** An Auth Key in the database. */
const Row = Schema.Struct({
  ...settings,
  id: Record.AuthKeyId,
  key: Schema.String,
  secret: Schema.RedactedFromValue(Schema.String),
  workspace: Schema.String,
  is_active: Schema.BooleanFromBit,
  created_at: Schema.DateTimeUtcFromMillis,
  modified_at: Time,
  last_used_at: Time
})

/** An Auth Key with its Workspace and its scopes. */
export interface AuthKey extends Schema.Schema.Type<typeof Row> {}

/** The Auth Key of a request, and the scopes of the request. */
type Caller = Pick<AuthKey, "id" | "workspace" | "scopes">

const notFound = refused(404, "authKeyId: There is no such Auth Key in this Workspace.")

const taken = refused(409, "auth_key: Another Auth Key has this value.")

const isLast = refused(409, "authKeyId: The last active Auth Key with the scope auth_keys:write cannot be deleted.")

const keepsLast = refused(409, "scope: The last active Auth Key with the scope auth_keys:write must keep this scope.")

const isHidden = refused(
  403,
  "can_show_auth_secret: This setting of the Auth Key is false, so its secret cannot be shown."
)

const isRevoked = refused(403, "auth.key: The Auth Key of the request was deleted, or lost the scope auth_keys:write.")

/** Refuses a request that lacks one of the `asked` scopes. */
const checkScopes = (scopes: ReadonlyArray<Auth.Scope>, asked: ReadonlyArray<Auth.Scope>) => {
  const missing = lacking(scopes, asked)
  if (missing.length === 0) return Effect.void
  const message = `scope: The request needs all scopes of an Auth Key to manage the Auth Key; it lacks ${missing.join(" ")}.`
  return Effect.fail(refused(403, message))
}

/**
 * A random `key` and a random secret. Neither value depends on the `seed`, because otherwise anyone who knows the seed
 * could compute the secret.
 */
export const random = Ids.hex.pipe(
  Effect.flatMap((text) => Effect.all({ key: text, secret: Effect.map(text, (secret) => Redacted.make(secret)) })),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/**
 * The recorded last use of an Auth Key may be this many milliseconds too old. Therefore an Auth Key causes at most one
 * write a minute, instead of one write for each request.
 */
const precision = 60_000

const { all, first, one } = Statement.rows(Row)
const owner = Statement.column(Schema.String).first
const encodeGiven = Schema.encodeSync(
  Row.mapFields(({ is_active, scopes, secret, workspace }) => ({ secret, workspace, scopes, is_active }))
)
/** The settings of an Auth Key after a request. */
const changed = (base: Settings, request: Record.UpdateRequest): Settings => ({
  description: request.description ?? base.description,
  scopes: request.scope === undefined ? base.scopes : [...new Set(request.scope)],
  signature_algo: request.signatureAlgo ?? base.signature_algo,
  is_allowed_for_smartcdn: request.isAllowedForSmartCdn ?? base.is_allowed_for_smartcdn,
  can_show_auth_secret: request.canShowAuthSecret ?? base.can_show_auth_secret
})

const encodeSettings = Schema.encodeSync(Schema.Struct(settings))

/**
 * Stores the Auth Keys of all Workspaces. Every request with credentials reads its Auth Key from the database, so that
 * a change takes effect at once.
 *
 * A request can manage only an Auth Key of its own Workspace, and only if the request has all scopes of this Auth Key.
 * Without this rule, a request with `auth_keys:write` could get every scope: the request could add scopes to its own
 * Auth Key, or read the secret of another Auth Key.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { authKeys: most } = yield* Limits.Limits
  const newId = yield* Ids.hex
  const selected = sql.literal(`SELECT ${Object.keys(Row.fields).join(", ")} FROM auth_keys WHERE`)
  const byId = (id: string) => sql`${selected} id = ${id}`

  /** Finds an active Auth Key by its id. */
  const findById = (id: string) => first(sql`${byId(id)} AND is_active = 1`)

  /**
   * Runs work in one transaction, so that no other request changes the Auth Keys between the checks and the change. The
   * work gets the scopes that the request still has: its Auth Key may have been deleted or changed since the request
   * was authenticated, and a deleted Auth Key must not create another one.
   */
  const atomically = <A>(
    caller: Caller,
    work: (scopes: ReadonlyArray<Auth.Scope>) => Effect.Effect<A, Refused | StorageFailed>
  ) =>
    Effect.gen(function* () {
      const { scopes: own } = yield* Statement.orFail(isRevoked)(findById(caller.id))
      const scopes = shared(caller.scopes, own)
      return yield* grants(scopes, "auth_keys:write") ? work(scopes) : isRevoked
    }).pipe(sql.withTransaction, Statement.stored)

  /** Finds an Auth Key, and refuses a request that may not manage it. */
  const manage = <A>(
    caller: Caller,
    id: string,
    work: (row: AuthKey, scopes: ReadonlyArray<Auth.Scope>) => Effect.Effect<A, Refused | StorageFailed>
  ) =>
    atomically(
      caller,
      Effect.fnUntraced(function* (scopes) {
        const row = yield* Statement.orFail(notFound)(first(sql`${byId(id)} AND workspace = ${caller.workspace}`))
        yield* checkScopes(scopes, row.scopes)
        return yield* work(row, scopes)
      })
    )

  /**
   * Refuses a change after which no active Auth Key of the Workspace has the scope `auth_keys:write`, because then no
   * request could create another Auth Key. The refusal makes the transaction undo the change.
   */
  const checkManaged = Effect.fnUntraced(function* (workspace: string, otherwise: Refused) {
    const count = yield* Statement.count(sql`
      SELECT count(*) FROM auth_keys WHERE workspace = ${workspace} AND is_active = 1 AND EXISTS (
        SELECT 1 FROM json_each(auth_keys.scopes) AS scope WHERE scope.value IN ('auth_keys:write', 'write')
      )`)
    if (count === 0) return yield* otherwise
  })

  return {
    /** Finds an active Auth Key. */
    find: (key: string) => first(sql`${selected} key = ${key} AND is_active = 1`),
    findById,
    /** The oldest active Auth Key of a Workspace. */
    firstOf: (workspace: string) =>
      first(sql`${selected} workspace = ${workspace} AND is_active = 1 ORDER BY rowid LIMIT 1`),
    /** All Auth Keys of a Workspace, the oldest first. */
    list: (workspace: string) => all(sql`${selected} workspace = ${workspace} ORDER BY rowid`),
    /** The Workspace of an active or inactive Auth Key. */
    ownerOf: (key: string) => owner(sql`SELECT workspace FROM auth_keys WHERE key = ${key}`),
    /**
     * Inserts an Auth Key. If an Auth Key with the same `key` exists, the secret, the Workspace, the scopes and the
     * `is_active` of this Auth Key are replaced. The other settings of this Auth Key stay.
     */
    put: Effect.fnUntraced(function* ({
      isActive,
      key,
      ...given
    }: Pick<AuthKey, "key" | "secret" | "workspace" | "scopes"> & { readonly isActive: boolean }) {
      const id = yield* newId
      const created_at = yield* Clock.currentTimeMillis
      const values = encodeGiven({ ...given, is_active: isActive })
      yield* Statement.run(
        sql`INSERT INTO auth_keys ${sql.insert({ id, key, created_at, ...values })}
          ON CONFLICT (key) DO UPDATE SET ${sql.update(values)}`
      )
    }),
    /** Records that a request has used an Auth Key. */
    markUsed: Effect.fnUntraced(
      function* ({ id, last_used_at }: AuthKey) {
        const now = yield* Clock.currentTimeMillis
        if (last_used_at !== null && now - last_used_at.epochMilliseconds < precision) return
        yield* Statement.run(sql`UPDATE auth_keys SET last_used_at = ${now} WHERE id = ${id}`)
      },
      // The failure is ignored, so that a request with a bearer token can read even if the disk is full.
      Effect.catchTag("StorageFailed", () => Effect.void)
    ),

    create: Effect.fnUntraced(function* (caller: Caller, request: Record.CreateRequest) {
      const made = yield* random
      const id = yield* newId
      const created = {
        id,
        key: request.authKey ?? made.key,
        secret: Redacted.value(made.secret),
        workspace: caller.workspace,
        created_at: yield* Clock.currentTimeMillis,
        ...encodeSettings(changed(defaults, request))
      }
      return yield* atomically(
        caller,
        Effect.fnUntraced(function* (scopes) {
          yield* checkScopes(scopes, request.scope)
          const { workspace } = caller
          if ((yield* Statement.count(sql`SELECT count(*) FROM auth_keys WHERE workspace = ${workspace}`)) >= most) {
            return yield* refused(409, `auth_keys: A Workspace has at most ${most} Auth Keys.`)
          }
          const isNew = yield* Statement.isChange(
            sql`INSERT INTO auth_keys ${sql.insert(created)} ON CONFLICT (key) DO NOTHING`
          )
          return yield* isNew ? one(byId(id)) : taken
        })
      )
    }),

    update: (caller: Caller, id: Record.AuthKeyId, request: Record.UpdateRequest) =>
      manage(
        caller,
        id,
        Effect.fnUntraced(function* (row, scopes) {
          yield* checkScopes(scopes, request.scope ?? [])
          const next = changed(row, request)
          const modified_at = yield* DateTime.now
          const columns = { ...encodeSettings(next), modified_at: modified_at.epochMilliseconds }
          yield* Statement.run(sql`UPDATE auth_keys SET ${sql.update(columns)} WHERE id = ${id}`)
          yield* checkManaged(caller.workspace, keepsLast)
          return { ...row, ...next, modified_at }
        })
      ),

    remove: (caller: Caller, id: Record.AuthKeyId) =>
      manage(caller, id, () =>
        Effect.andThen(
          Statement.run(sql`DELETE FROM auth_keys WHERE id = ${id}`),
          checkManaged(caller.workspace, isLast)
        )
      ),

    /** Returns the secret of an Auth Key if its `can_show_auth_secret` is true. */
    secret: (caller: Caller, id: Record.AuthKeyId) =>
      manage(caller, id, ({ can_show_auth_secret, secret }) =>
        can_show_auth_secret ? Effect.succeed(secret) : Effect.fail(isHidden)
      )
  }
})
