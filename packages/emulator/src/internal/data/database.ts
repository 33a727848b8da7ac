import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Record from "effect/Record"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import { DataInUse, StorageFailed } from "../../EmulatorError.ts"
import { migrations } from "./migrations.ts"
import * as Statement from "./statement.ts"

/** The largest integer of SQLite. */
export const maxInteger = 2n ** 63n - 1n

/** The OFFSET for a page number. A number below 1 means the first page. A page after the last page is empty. */
export const offsetOf = (page: number, pageSize: number): bigint => {
  const offset = BigInt(Math.max(1, page) - 1) * BigInt(pageSize)
  return offset > maxInteger ? maxInteger : offset
}

/**
 * Opens the database exclusively. The lock is released when the connection closes or the process ends. Committed data
 * survives the end of the process. A commit does not wait for the disk, because otherwise every response would have to
 * wait too. Therefore a power failure may lose committed data.
 */
const client = (path: string): Layer.Layer<SqlClient.SqlClient, DataInUse | StorageFailed> =>
  Layer.effect(
    SqlClient.SqlClient,
    SqliteClient.make({ path, isExclusive: true }).pipe(
      Effect.catchReason("SqlError", "LockTimeoutError", () => Effect.fail(new DataInUse({ path }))),
      Statement.stored
    )
  ).pipe(Layer.provide(Reactivity.layer))

const loader = Migrator.fromRecord(
  Record.map(migrations, (statements) =>
    SqlClient.SqlClient.use((sql) =>
      Effect.forEach(statements, (statement) => sql.unsafe(statement).unprepared, { discard: true })
    )
  )
)

/** Refuses the database of another program, because the migrations would change it. */
const checkOwner = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, path: string) {
  const isForeign = yield* Statement.count(sql`
    SELECT count(*) > 0 AND NOT coalesce(sum(name = 'assemblies'), 0)
    FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'effect_sql_%'`)
  if (isForeign !== 0) return yield* new StorageFailed({ path, reason: "Damaged", code: "NOT_OF_THE_EMULATOR" })
})

/** Runs the missing migrations. */
const migrate = Effect.fnUntraced(function* (path: string) {
  const sql = yield* SqlClient.SqlClient
  yield* checkOwner(sql, path)
  yield* Migrator.make({})({ loader }).pipe(
    Effect.catchTag("MigrationError", (error) =>
      SqlError.isSqlError(error.cause) ? Effect.fail(error.cause) : Effect.die(error)
    )
  )
}, Statement.stored)

/**
 * Opens the database file at `path` and runs the missing migrations. The database `:memory:` is lost when the scope
 * closes.
 */
export const layer = (path: string) => Layer.provideMerge(Layer.effectDiscard(migrate(path)), client(path))
