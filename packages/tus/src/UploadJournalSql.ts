/**
 * A journal in a table of SQLite or Postgres. `UploadJournal` has the journals that need no database.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type * as Layer from "effect/Layer"
import type { Key, Store } from "./internal/journal.ts"
import { JournalFailed } from "./internal/journalError.ts"
import * as UploadJournal from "./UploadJournal.ts"

/**
 * Fails with `JournalFailed` if the database fails. A client interrupts the statements of a connection that it closes,
 * although nobody has interrupted the caller.
 */
const attempting =
  (action: JournalFailed["action"]) =>
  <A>(access: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, JournalFailed> =>
    Effect.catchCause(access, (found) => {
      const error = Cause.squash(found)
      if (Cause.hasDies(found)) return Effect.die(error)
      const { cause, message } = SqlError.isSqlError(error)
        ? error.reason
        : { cause: undefined, message: String(error) }
      const description = cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message
      return Effect.fail(new JournalFailed({ action, description }))
    })

/** Makes the store, and the table if it does not exist. A row with `kind` 1 is a lease. */
const make = (name: string): Effect.Effect<Store, JournalFailed, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const table = sql(name)
    yield* sql`
      CREATE TABLE IF NOT EXISTS ${table} (
        kind SMALLINT NOT NULL,
        entry_key VARCHAR(64) NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (kind, entry_key)
      )`.pipe(
      // Two processes of Postgres that create the same table at the same time: one of them fails.
      Effect.retry({ times: 1 }),
      attempting("write")
    )

    const texts = (kind: 0 | 1) => ({
      get: (key: Key) =>
        sql<{ readonly entry: string }>`SELECT entry FROM ${table} WHERE kind = ${kind} AND entry_key = ${key}`.pipe(
          Effect.map(([row]) => row?.entry),
          attempting("read")
        ),
      remove: (key: Key) =>
        sql`DELETE FROM ${table} WHERE kind = ${kind} AND entry_key = ${key}`.pipe(Effect.asVoid, attempting("remove")),
      keys: sql<{ readonly entry_key: string }>`SELECT entry_key FROM ${table} WHERE kind = ${kind}`.pipe(
        Effect.map((rows) => rows.map(({ entry_key }) => entry_key)),
        attempting("list")
      )
    })
    return {
      ...texts(0),
      set: (key, text) =>
        sql`
          INSERT INTO ${table} (kind, entry_key, entry) VALUES (0, ${key}, ${text})
          ON CONFLICT (kind, entry_key) DO UPDATE SET entry = EXCLUDED.entry`.pipe(Effect.asVoid, attempting("write")),
      leases: {
        ...texts(1),
        swap: (key, expected, text) =>
          (expected === undefined
            ? sql`
                INSERT INTO ${table} (kind, entry_key, entry) VALUES (1, ${key}, ${text})
                ON CONFLICT (kind, entry_key) DO NOTHING RETURNING kind`
            : sql`
                UPDATE ${table} SET entry = ${text}
                WHERE kind = 1 AND entry_key = ${key} AND entry = ${expected} RETURNING kind`
          ).pipe(
            Effect.map(({ length }) => length > 0),
            attempting("lease")
          )
      }
    }
  })

/**
 * - `table`: the name of the table, `upload_journal` by default. The Layer creates the table if it does not exist.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends UploadJournal.Options {
  readonly table?: string | undefined
}

/**
 * A journal in a table of SQLite or Postgres, which all processes and machines with the database share. Every change of
 * a lease is atomic. The clocks of the machines must not differ by more than `leaseDuration`.
 *
 * @example UploadJournalSql.layer().pipe(Layer.provide(SqliteClient.layer({ path: "app.db" })))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = ({ table = "upload_journal", ...options }: Options = {}): Layer.Layer<
  UploadJournal.UploadJournal,
  InvalidRequest | JournalFailed,
  SqlClient.SqlClient
> => UploadJournal.layerStore(make(table), options)
