import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../../Limits.ts"
import * as AuthKeys from "./authKeys.ts"
import * as Ids from "../data/ids.ts"
import * as Statement from "../data/statement.ts"
import { grants, lacking, shared } from "./scopes.ts"

const Flag = Schema.Literals([0, 1])
const Time = Schema.NullOr(Schema.Int)

/** An Auth Key without its secret. The times are in milliseconds since the epoch. */
export const Row = Schema.Struct({
  id: AuthKey.AuthKeyId,
  key: Schema.String,
  description: Schema.NullOr(Schema.String),
  scopes: Schema.fromJsonString(Schema.Array(Auth.Scope)),
  signature_algo: Schema.NullOr(AuthKey.SignatureAlgorithm),
  is_active: Flag,
  is_allowed_for_smartcdn: Flag,
  can_show_auth_secret: Flag,
  created_at: Time,
  modified_at: Time,
  last_used_at: Time
})
export type Row = typeof Row.Type

/**
 * The reason why an Auth Key was not created, changed, deleted or shown. A refused request has no effect. `message`
 * names the field and the rule.
 */
export class Refused extends Data.TaggedError("Refused")<{ readonly status: number; readonly message: string }> {}

/** The Auth Key of a request, and the scopes of the request. */
interface Caller {
  readonly id: string
  readonly workspace: string
  readonly scopes: ReadonlyArray<Auth.Scope>
}

const refused = (status: number, message: string) => new Refused({ status, message })

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

const toText = (scopes: ReadonlyArray<Auth.Scope>): string => JSON.stringify([...new Set(scopes)])

const all = Statement.all(Row)
const first = Statement.first(Row)
const one = Statement.one(Row)
const hidden = Statement.one(Schema.Struct({ secret: Schema.RedactedFromValue(Schema.String) }))

/**
 * Manages the Auth Keys of all Workspaces. A request can manage only an Auth Key of its own Workspace, and only if the
 * request has all scopes of this Auth Key. Without this rule, a request with `auth_keys:write` could get every scope:
 * the request could add scopes to its own Auth Key, or read the secret of another Auth Key.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { authKeys: most } = yield* Limits.Limits
  const newId = yield* Ids.hex
  const columns = sql.literal(Object.keys(Row.fields).join(", "))

  const byId = (id: string) => sql`SELECT ${columns} FROM auth_keys WHERE id = ${id}`

  /**
   * Returns the scopes that a request still has. Its Auth Key may have been deleted or changed since the request was
   * authenticated, and a deleted Auth Key must not create another one.
   */
  const scopesOf = Effect.fnUntraced(function* (caller: Caller) {
    const row = yield* first(sql`${byId(caller.id)} AND is_active = 1`)
    const scopes = Option.match(row, { onNone: () => [], onSome: (own) => shared(caller.scopes, own.scopes) })
    return grants(scopes, "auth_keys:write") ? scopes : yield* isRevoked
  })

  /** Runs work in one transaction, so that no other request changes the Auth Keys between the checks and the change. */
  const atomically = <A>(
    caller: Caller,
    work: (scopes: ReadonlyArray<Auth.Scope>) => Effect.Effect<A, Refused | StorageFailed>
  ) => Statement.stored(sql.withTransaction(Effect.flatMap(scopesOf(caller), work)))

  /** Finds an Auth Key, and refuses a request that may not manage it. */
  const find = Effect.fnUntraced(function* (workspace: string, id: string, scopes: ReadonlyArray<Auth.Scope>) {
    const row = yield* first(sql`${byId(id)} AND workspace = ${workspace}`)
    if (Option.isNone(row)) return yield* notFound
    yield* checkScopes(scopes, row.value.scopes)
    return row.value
  })

  /**
   * Refuses a change after which no active Auth Key of the Workspace has the scope `auth_keys:write`. The refusal makes
   * the transaction undo the change.
   */
  const checkManaged = Effect.fnUntraced(function* (workspace: string, otherwise: Refused) {
    const count = yield* Statement.count(sql`
      SELECT count(*) AS count FROM auth_keys WHERE workspace = ${workspace} AND is_active = 1 AND EXISTS (
        SELECT 1 FROM json_each(auth_keys.scopes) AS scope WHERE scope.value IN ('auth_keys:write', 'write')
      )`)
    if (count === 0) return yield* otherwise
  })

  const checkCount = Effect.fnUntraced(function* (workspace: string) {
    const count = yield* Statement.count(sql`SELECT count(*) AS count FROM auth_keys WHERE workspace = ${workspace}`)
    if (count < most) return
    return yield* refused(409, `auth_keys: A Workspace has at most ${most} Auth Keys.`)
  })

  return {
    /** All Auth Keys of a Workspace, the oldest first. */
    list: (workspace: string) =>
      all(sql`SELECT ${columns} FROM auth_keys WHERE workspace = ${workspace} ORDER BY rowid`),

    create: Effect.fnUntraced(function* (caller: Caller, request: AuthKey.CreateRequest) {
      const { authKey, canShowAuthSecret = false, description = null, isAllowedForSmartCdn = false } = request
      const made = yield* AuthKeys.random
      const id = yield* newId
      const created = {
        id,
        key: authKey ?? made.key,
        secret: Redacted.value(made.secret),
        workspace: caller.workspace,
        description,
        scopes: toText(request.scope),
        signature_algo: request.signatureAlgo ?? null,
        is_allowed_for_smartcdn: Number(isAllowedForSmartCdn),
        can_show_auth_secret: Number(canShowAuthSecret),
        created_at: (yield* DateTime.now).epochMilliseconds
      }
      return yield* atomically(
        caller,
        Effect.fnUntraced(function* (scopes) {
          yield* checkScopes(scopes, request.scope)
          yield* checkCount(caller.workspace)
          const isNew = yield* Statement.isChange(
            sql`INSERT INTO auth_keys ${sql.insert(created)} ON CONFLICT (key) DO NOTHING`
          )
          return isNew ? { row: yield* one(byId(id)), secret: made.secret } : yield* taken
        })
      )
    }),

    update: (
      caller: Caller,
      id: AuthKey.AuthKeyId,
      { canShowAuthSecret, description, isAllowedForSmartCdn, scope, signatureAlgo }: AuthKey.UpdateRequest
    ) =>
      atomically(
        caller,
        Effect.fnUntraced(function* (scopes) {
          yield* find(caller.workspace, id, scopes)
          yield* checkScopes(scopes, scope ?? [])
          const { epochMilliseconds: now } = yield* DateTime.now
          // No setting can become null, so null means that the request does not contain the setting.
          yield* Statement.run(sql`
            UPDATE auth_keys SET
              description = coalesce(${description ?? null}, description),
              scopes = coalesce(${scope === undefined ? null : toText(scope)}, scopes),
              signature_algo = coalesce(${signatureAlgo ?? null}, signature_algo),
              is_allowed_for_smartcdn = coalesce(${isAllowedForSmartCdn ?? null}, is_allowed_for_smartcdn),
              can_show_auth_secret = coalesce(${canShowAuthSecret ?? null}, can_show_auth_secret),
              modified_at = ${now}
            WHERE id = ${id}`)
          yield* checkManaged(caller.workspace, keepsLast)
          return yield* one(byId(id))
        })
      ),

    /**
     * Deletes an Auth Key. The last active Auth Key of a Workspace with the scope `auth_keys:write` cannot be deleted,
     * because then no request could create another Auth Key in this Workspace.
     */
    remove: (caller: Caller, id: AuthKey.AuthKeyId) =>
      atomically(
        caller,
        Effect.fnUntraced(function* (scopes) {
          yield* find(caller.workspace, id, scopes)
          yield* Statement.run(sql`DELETE FROM auth_keys WHERE id = ${id}`)
          yield* checkManaged(caller.workspace, isLast)
        })
      ),

    /** Returns the secret of an Auth Key if its `can_show_auth_secret` is true. */
    secret: (caller: Caller, id: AuthKey.AuthKeyId) =>
      atomically(
        caller,
        Effect.fnUntraced(function* (scopes) {
          const { can_show_auth_secret } = yield* find(caller.workspace, id, scopes)
          if (can_show_auth_secret === 0) return yield* isHidden
          return (yield* hidden(sql`SELECT secret FROM auth_keys WHERE id = ${id}`)).secret
        })
      )
  }
})
