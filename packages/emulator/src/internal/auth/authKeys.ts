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

const first = Statement.first(Row)
const owner = Statement.first(Schema.Struct({ workspace: Schema.String }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const newId = yield* Ids.hex
  const columns = sql.literal("id, key, secret, workspace, scopes, signature_algo, last_used_at")

  return {
    /** Finds an active Auth Key. */
    find: (key: string) => first(sql`SELECT ${columns} FROM auth_keys WHERE key = ${key} AND is_active = 1`),
    /** Finds an active Auth Key by its id. */
    findById: (id: string) => first(sql`SELECT ${columns} FROM auth_keys WHERE id = ${id} AND is_active = 1`),
    /** The oldest active Auth Key of a Workspace. */
    firstOf: (workspace: string) =>
      first(sql`
        SELECT ${columns} FROM auth_keys WHERE workspace = ${workspace} AND is_active = 1 ORDER BY rowid LIMIT 1`),
    /** The Workspace of an active or inactive Auth Key. */
    ownerOf: (key: string) =>
      Effect.map(
        owner(sql`SELECT workspace FROM auth_keys WHERE key = ${key}`),
        Option.map(({ workspace }) => workspace)
      ),
    /**
     * Inserts an Auth Key. If an Auth Key with the same `key` exists, the secret, the Workspace, the scopes and the
     * `is_active` of this Auth Key are replaced. The other settings of this Auth Key stay.
     */
    put: Effect.fnUntraced(function* ({ isActive, key, scopes, secret, workspace }: Given) {
      const id = yield* newId
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
    /** Records that a request has used an Auth Key. */
    markUsed: Effect.fnUntraced(
      function* ({ id, last_used_at }: AuthKey) {
        const now = (yield* DateTime.now).epochMilliseconds
        if (last_used_at !== null && now - last_used_at < precision) return
        yield* Statement.run(sql`UPDATE auth_keys SET last_used_at = ${now} WHERE id = ${id}`)
      },
      // The failure is ignored, so that a request with a bearer token can read even if the disk is full.
      Effect.catchTag("StorageFailed", () => Effect.void)
    )
  }
})

/**
 * Stores the Auth Keys of all Workspaces for authentication. Every request with credentials reads its Auth Key from the
 * database, so that a change takes effect at once.
 */
export class AuthKeys extends Context.Service<AuthKeys>()("@assembly-effect/emulator/AuthKeys", { make }) {}

export const layer = Layer.effect(AuthKeys, AuthKeys.make)
