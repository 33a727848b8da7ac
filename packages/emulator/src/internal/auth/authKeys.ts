import * as Auth from "@assembly-effect/schema/Auth"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Database from "../data/database.ts"

/** An Auth Key with its Workspace and its scopes. */
export interface AuthKey {
  readonly key: string
  readonly secret: Redacted.Redacted
  readonly workspace: string
  readonly scopes: ReadonlyArray<Auth.Scope>
}

/** The Auth Keys of every Workspace. */
export class AuthKeys extends Context.Service<
  AuthKeys,
  {
    readonly find: (key: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** The oldest Auth Key of a Workspace. */
    readonly firstOf: (workspace: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** Inserts or replaces an Auth Key. Call it inside a transaction. */
    readonly write: (authKey: AuthKey) => void
  }
>()("@assembly-effect/emulator/AuthKeys") {}

const Row = Schema.Struct({
  key: Schema.String,
  secret: Schema.RedactedFromValue(Schema.String),
  workspace: Schema.String,
  scopes: Schema.fromJsonString(Schema.Array(Auth.Scope))
})

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const byKey = database.query(Row, "SELECT key, secret, workspace, scopes FROM auth_keys WHERE key = :key")
  const byWorkspace = database.query(
    Row,
    "SELECT key, secret, workspace, scopes FROM auth_keys WHERE workspace = :workspace ORDER BY rowid LIMIT 1"
  )
  const upsert = database.command(
    `INSERT INTO auth_keys (key, secret, workspace, scopes) VALUES (:key, :secret, :workspace, :scopes)
     ON CONFLICT (key) DO UPDATE SET secret = :secret, workspace = :workspace, scopes = :scopes`
  )

  return AuthKeys.of({
    find: (key) => database.run(() => byKey.first({ key })),
    firstOf: (workspace) => database.run(() => byWorkspace.first({ workspace })),
    write: ({ key, scopes, secret, workspace }) => {
      upsert({ key, secret: Redacted.value(secret), workspace, scopes: JSON.stringify(scopes) })
    }
  })
})

export const layer: Layer.Layer<AuthKeys, never, Database.Database> = Layer.effect(AuthKeys, make)
