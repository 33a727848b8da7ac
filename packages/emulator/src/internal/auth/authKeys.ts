import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Record from "@assembly-effect/schema/AuthKey"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Ids from "../data/ids.ts"
import * as Statement from "../data/statement.ts"

const Row = Schema.Struct({
  id: Schema.String,
  key: Schema.String,
  secret: Schema.RedactedFromValue(Schema.String),
  workspace: Schema.String,
  scopes: Schema.fromJsonString(Schema.Array(Auth.Scope)),
  /** The only algorithm whose signatures are accepted. Null permits all algorithms. */
  signature_algo: Schema.NullOr(Record.SignatureAlgorithm),
  last_used_at: Schema.NullOr(Schema.Int)
})

/** An active Auth Key with its Workspace and its scopes. `last_used_at` is in milliseconds since the epoch. */
export interface AuthKey extends Schema.Schema.Type<typeof Row> {}

/** An Auth Key from the options of an emulator. */
interface Given {
  readonly key: string
  readonly secret: Redacted.Redacted
  readonly workspace: string
  readonly scopes: ReadonlyArray<Auth.Scope>
  readonly isActive: boolean
}

/**
 * Stores the Auth Keys of all Workspaces for authentication. Every request with credentials reads its Auth Key from the
 * database, so that a change takes effect at once.
 */
export class AuthKeys extends Context.Service<
  AuthKeys,
  {
    /** Finds an active Auth Key. */
    readonly find: (key: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** Finds an active Auth Key by its id. */
    readonly findById: (id: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** The oldest active Auth Key of a Workspace. */
    readonly firstOf: (workspace: string) => Effect.Effect<Option.Option<AuthKey>, StorageFailed>
    /** The Workspace of an active or inactive Auth Key. */
    readonly ownerOf: (key: string) => Effect.Effect<Option.Option<string>, StorageFailed>
    /**
     * Inserts an Auth Key. If an Auth Key with the same `key` exists, the secret, the Workspace, the scopes and the
     * `is_active` of this Auth Key are replaced. The other settings of this Auth Key stay.
     */
    readonly put: (authKey: Given) => Effect.Effect<void, StorageFailed>
    /** Records that a request has used an Auth Key. */
    readonly markUsed: (authKey: AuthKey) => Effect.Effect<void>
  }
>()("@assembly-effect/emulator/AuthKeys") {}

/**
 * A random `key` and a random secret. Neither value depends on the `seed`, because otherwise anyone who knows the seed
 * could compute the secret.
 */
export const random = Effect.all({ key: Ids.hex, secret: Effect.map(Ids.hex, (text) => Redacted.make(text)) }).pipe(
  Effect.provide(SecureRandom.layerWebCrypto)
)

/**
 * The recorded last use of an Auth Key may be this many milliseconds too old. Therefore an Auth Key causes at most one
 * write a minute, instead of one write for each request.
 */
const precision = 60_000

const first = Statement.first(Row)
const owner = Statement.first(Schema.Struct({ workspace: Schema.String }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* SecureRandom.SecureRandom
  const columns = sql.literal("id, key, secret, workspace, scopes, signature_algo, last_used_at")

  return AuthKeys.of({
    find: (key) => first(sql`SELECT ${columns} FROM auth_keys WHERE key = ${key} AND is_active = 1`),
    findById: (id) => first(sql`SELECT ${columns} FROM auth_keys WHERE id = ${id} AND is_active = 1`),
    firstOf: (workspace) =>
      first(sql`
        SELECT ${columns} FROM auth_keys WHERE workspace = ${workspace} AND is_active = 1 ORDER BY rowid LIMIT 1`),
    ownerOf: (key) =>
      Effect.map(
        owner(sql`SELECT workspace FROM auth_keys WHERE key = ${key}`),
        Option.map(({ workspace }) => workspace)
      ),
    put: Effect.fnUntraced(function* ({ isActive, key, scopes, secret, workspace }) {
      const id = yield* Effect.provideService(Ids.hex, SecureRandom.SecureRandom, ids)
      const created_at = (yield* DateTime.now).epochMilliseconds
      const settings = {
        secret: Redacted.value(secret),
        workspace,
        scopes: JSON.stringify(scopes),
        is_active: Number(isActive)
      }
      yield* Statement.run(
        sql`INSERT INTO auth_keys ${sql.insert({ id, key, created_at, ...settings })}
          ON CONFLICT (key) DO UPDATE SET ${sql.update(settings)}`
      )
    }),
    markUsed: Effect.fnUntraced(
      function* ({ id, last_used_at }) {
        const now = (yield* DateTime.now).epochMilliseconds
        if (last_used_at !== null && now - last_used_at < precision) return
        yield* Statement.run(sql`UPDATE auth_keys SET last_used_at = ${now} WHERE id = ${id}`)
      },
      // The failure is ignored, so that a request with a bearer token can read even if the disk is full.
      Effect.catchTag("StorageFailed", () => Effect.void)
    )
  })
})

export const layer: Layer.Layer<AuthKeys, never, SecureRandom.SecureRandom | SqlClient.SqlClient> = Layer.effect(
  AuthKeys,
  make
)
