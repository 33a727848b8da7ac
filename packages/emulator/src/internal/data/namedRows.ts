import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlStatement from "effect/sql/Statement"
import * as Statement from "./statement.ts"

/** A row with a name that only one row of its Workspace has. Times are milliseconds since the epoch. */
interface Named {
  readonly id: string
  readonly workspace: string
  readonly name: string
  readonly created_at: number
  readonly modified_at: number
}

/** The columns of {@link Named}, but its id and its name. */
export const fields = { workspace: Schema.String, created_at: Schema.Int, modified_at: Schema.Int }

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
 * The rows of one table. `missing` is the error if there is no such row, `taken` if another row of the Workspace has
 * the name.
 */
export const make = Effect.fnUntraced(function* <Row extends Named, Missing, Taken>(
  table: string,
  schema: Schema.Codec<Row, Readonly<Record<string, number | string | null>>>,
  { missing, taken }: { readonly missing: Missing; readonly taken: Taken }
) {
  const sql = yield* SqlClient.SqlClient
  const encode = Schema.encodeSync(schema)
  const { first, one } = Statement.rows(schema)
  const rows = sql.literal(table)

  const find = (where: SqlStatement.Fragment) => first(sql`SELECT * FROM ${rows} WHERE ${where}`)
  const get = (where: SqlStatement.Fragment) => Statement.orFail(missing)(find(where))

  /** Inserts a row, or replaces the row with its id. */
  const put = Effect.fnUntraced(
    function* (row: Row) {
      const { id, name, workspace } = row
      const same = yield* Statement.count(sql`
        SELECT count(*) AS count FROM ${rows} WHERE workspace = ${workspace} AND name = ${name} AND id <> ${id}`)
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
    get,
    put,
    /** Changes a row in one transaction, so that concurrent changes of different settings do not undo each other. */
    change: <E>(where: SqlStatement.Fragment, next: (row: Row) => Effect.Effect<Row, E>) =>
      get(where).pipe(Effect.flatMap(next), Effect.flatMap(put), sql.withTransaction, Statement.stored),
    remove: (where: SqlStatement.Fragment) =>
      Effect.flatMap(
        Statement.isChange(sql`DELETE FROM ${rows} WHERE rowid = (SELECT rowid FROM ${rows} WHERE ${where})`),
        (isRemoved) => (isRemoved ? Effect.void : Effect.fail(missing))
      )
  }
})
