import * as Auth from "@assembly-effect/schema/Auth"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Statement from "../data/statement.ts"

/** An Auth Key with its Workspace and its scopes. */
export interface AuthKey {
  readonly key: string
  readonly secret: Redacted.Redacted
  readonly workspace: string
  readonly scopes: ReadonlyArray<Auth.Scope>
}

/** Stores the Auth Keys of all Workspaces. */
export class AuthKeys extends Context.Service<
  AuthKeys,
  {
    readonly find: (key: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** The oldest Auth Key of a Workspace. */
    readonly firstOf: (workspace: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** Inserts an Auth Key, or replaces the Auth Key with the same `key`. */
    readonly put: (authKey: AuthKey) => Effect.Effect<void, StorageFailed>
  }
>()("@assembly-effect/emulator/AuthKeys") {}

const Row = Schema.Struct({
  key: Schema.String,
  secret: Schema.RedactedFromValue(Schema.String),
  workspace: Schema.String,
  scopes: Schema.fromJsonString(Schema.Array(Auth.Scope))
})

const first = Statement.first(Row)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return AuthKeys.of({
    find: (key) => first(sql`SELECT key, secret, workspace, scopes FROM auth_keys WHERE key = ${key}`),
    firstOf: (workspace) =>
      first(
        sql`SELECT key, secret, workspace, scopes FROM auth_keys WHERE workspace = ${workspace} ORDER BY rowid LIMIT 1`
      ),
    put: ({ key, scopes, secret, workspace }) => {
      const settings = { secret: Redacted.value(secret), workspace, scopes: JSON.stringify(scopes) }
      return Statement.run(
        sql`INSERT INTO auth_keys ${sql.insert({ key, ...settings })} ON CONFLICT (key) DO UPDATE SET ${sql.update(settings)}`
      )
    }
  })
})

export const layer: Layer.Layer<AuthKeys, never, SqlClient.SqlClient> = Layer.effect(AuthKeys, make)
