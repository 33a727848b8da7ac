import * as Template from "@assembly-effect/schema/Template"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as NamedRows from "../data/namedRows.ts"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as Turns from "../http/turns.ts"

/** A Template in the database. */
const Row = Schema.Struct({
  ...NamedRows.fields,
  content: Schema.fromJsonString(Template.StoredContent),
  require_signature_auth: Schema.BooleanFromBit,
  assembly_status_expiry: Schema.NullOr(Schema.String),
  transcoding_result_expiry: Schema.NullOr(Schema.String)
})
export type Row = typeof Row.Type

/** A Template in a list. `last_used` is the time of the last Assembly with this Template. */
const Listed = Schema.Struct({ ...Row.fields, last_used: Schema.NullOr(Schema.DateTimeUtcFromMillis) })
export type Listed = typeof Listed.Type

export const defaults = {
  require_signature_auth: false,
  assembly_status_expiry: null,
  transcoding_result_expiry: null
} as const

/** A list request. `from` and `to` are milliseconds since the epoch. */
export interface Listing extends NamedRows.Order {
  readonly from: number
  readonly to: number
  readonly keywords: ReadonlyArray<string>
  readonly limit: number
  readonly offset: bigint
}

const lastUsed = `(SELECT max(created_at) FROM assemblies
  WHERE assemblies.workspace = templates.workspace AND assemblies.template_id = templates.id)`

/** The part of a query that selects the Templates for a list request. */
const listed = (sql: SqlClient.SqlClient, workspace: string, { from, keywords, to }: Listing) => sql`
  FROM templates
  WHERE workspace = ${workspace} AND created_at > ${from} AND created_at < ${to} AND NOT EXISTS (
    SELECT 1 FROM json_each(${JSON.stringify(keywords)}) AS keyword
    WHERE instr(lower(concat_ws(char(10), templates.id, name, content)), lower(keyword.value)) = 0
  )`

/** The query for one page of a list. This function is exported, because a test checks the query plan. */
export const page = (sql: SqlClient.SqlClient, workspace: string, listing: Listing) => sql`
  SELECT *, ${sql.literal(lastUsed)} AS last_used ${listed(sql, workspace, listing)}
  ${NamedRows.orderBy(sql, listing)} LIMIT ${listing.limit} OFFSET ${listing.offset}`

/** The refusal of an unknown Template. The specification does not define the error code. */
export const notFound = Refusal.refuse("TEMPLATE_NOT_FOUND", 404, "There is no such Template in this Workspace.")

const { all } = Statement.rows(Listed)

/** Stores the Templates of all Workspaces. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* NamedRows.make("templates", Row, {
    // Selects a Template by its id, else by its name.
    at: (workspace, idOrName) => sql`
      workspace = ${workspace} AND (id = ${idOrName} OR name = ${idOrName}) ORDER BY id = ${idOrName} DESC LIMIT 1`,
    missing: notFound,
    taken: new Refusal.Refused({ status: 400, message: "name: Another Template of the Workspace has this name." })
  })

  return {
    ...rows,
    byId: (workspace: string, id: string) =>
      Effect.filterOrFail(
        rows.find(workspace, id),
        (row) => row.id === id,
        () => notFound
      ),
    /** Returns one page of Templates, and the number of Templates on all pages. */
    list: (workspace: string, listing: Listing) =>
      Effect.all({
        rows: all(page(sql, workspace, listing)),
        count: Statement.count(sql`SELECT count(*) ${listed(sql, workspace, listing)}`)
      }).pipe(sql.withTransaction, Statement.stored, Turns.take)
  }
})
export type Store = Effect.Success<typeof make>
