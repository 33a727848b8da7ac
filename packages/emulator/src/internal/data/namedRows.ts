import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlStatement from "effect/sql/Statement"
import * as Statement from "./statement.ts"

/** The columns of a row with a name that only one row of its Workspace has. Times are milliseconds since the epoch. */
export const fields = {
  id: Schema.String,
  workspace: Schema.String,
  name: Schema.String,
  created_at: Schema.Int,
  modified_at: Schema.Int
}

type Named = Schema.Struct.Type<typeof fields>

/** How a list is sorted. Rows with the same value are sorted by their insertion. */
export interface Order {
  readonly sort: string
  readonly order: "asc" | "desc"
}

/** The ORDER BY of a list. A time is sorted by the column that contains it. */
export const orderBy = (sql: SqlClient.SqlClient, { order, sort }: Order) => {
  const column = sort === "created" || sort === "modified" ? `${sort}_at` : sort
  return sql.literal(`ORDER BY ${column} ${order}, rowid ${order}`)
}

/**
 * `at`: the condition that selects the row of a Workspace that a request names. `missing`: the error if there is no such
 * row. `taken`: the error if another row of the Workspace has the name.
 */
interface Options<Missing, Taken> {
  readonly at: (workspace: string, key: string) => SqlStatement.Fragment
  readonly missing: Missing
  readonly taken: Taken
}

/** The rows of one table. */
export const make = Effect.fnUntraced(function* <Row extends Named, Missing, Taken>(
  table: string,
  schema: Schema.Codec<Row, Readonly<Record<string, number | string | null>>>,
  { at, missing, taken }: Options<Missing, Taken>
) {
  const sql = yield* SqlClient.SqlClient
  const encode = Schema.encodeSync(schema)
  const { first, one } = Statement.rows(schema)
  const rows = sql.literal(table)

  const find = (workspace: string, key: string) =>
    Statement.orFail(missing)(first(sql`SELECT * FROM ${rows} WHERE ${at(workspace, key)}`))

  /** Inserts a row, or replaces the row with its id. */
  const put = Effect.fnUntraced(
    function* (row: Row) {
      const { id, name, workspace } = row
      const same = yield* Statement.count(sql`
        SELECT count(*) FROM ${rows} WHERE workspace = ${workspace} AND name = ${name} AND id <> ${id}`)
      if (same > 0) return yield* Effect.fail(taken)
      const { created_at, ...values } = encode(row)
      return yield* one(sql`
        INSERT INTO ${rows} ${sql.insert({ created_at, ...values })}
        ON CONFLICT DO UPDATE SET ${sql.update(values)} RETURNING *`)
    },
    sql.withTransaction,
    Statement.stored
  )

  return {
    find,
    put,
    /** Changes a row in one transaction, so that concurrent changes of different settings do not undo each other. */
    change: Effect.fnUntraced(
      function* <E>(workspace: string, key: string, next: (row: Row) => Effect.Effect<Row, E>) {
        const modified_at = yield* Clock.currentTimeMillis
        return yield* put({ ...(yield* next(yield* find(workspace, key))), modified_at })
      },
      sql.withTransaction,
      Statement.stored
    ),
    remove: (workspace: string, key: string) =>
      Effect.flatMap(
        Statement.isChange(
          sql`DELETE FROM ${rows} WHERE rowid = (SELECT rowid FROM ${rows} WHERE ${at(workspace, key)})`
        ),
        (isRemoved) => (isRemoved ? Effect.void : Effect.fail(missing))
      )
  }
})
