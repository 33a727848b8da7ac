import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Template from "../../Template.ts"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as Turns from "../http/turns.ts"

/** A Template in the database. `created_at` and `modified_at` are milliseconds since the epoch. */
export const Row = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  name: Schema.String,
  content: Schema.fromJsonString(Template.Content),
  require_signature_auth: Schema.Literals([0, 1]),
  assembly_status_expiry: Schema.NullOr(Schema.String),
  transcoding_result_expiry: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  modified_at: Schema.Int
})
export type Row = typeof Row.Type

/** The fields of a Template that a client can set. */
export type Settings = Pick<
  Row,
  "name" | "content" | "require_signature_auth" | "assembly_status_expiry" | "transcoding_result_expiry"
>

export const defaults: Omit<Settings, "name" | "content"> = {
  require_signature_auth: 0,
  assembly_status_expiry: null,
  transcoding_result_expiry: null
}

/** The refusal of an unknown Template. Beyond the specification. */
export const notFound = new Refusal.Refusal({
  code: "TEMPLATE_NOT_FOUND",
  status: 404,
  message: "There is no such Template in this Workspace."
})

/** A list request. `from` and `to` are milliseconds since the epoch. */
export interface Listing {
  readonly from: number
  readonly to: number
  readonly keywords: ReadonlyArray<string>
  readonly sort: "created" | "id" | "last_used" | "modified" | "name"
  readonly order: "asc" | "desc"
  readonly limit: number
  readonly offset: bigint
}

/** Stores the Templates of all Workspaces. */
export class TemplateStore extends Context.Service<
  TemplateStore,
  {
    readonly byId: (workspace: string, id: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** Finds a Template by its id, else by its name. */
    readonly find: (workspace: string, idOrName: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** Creates or replaces a Template. Returns false if another Template of the Workspace has the same name. */
    readonly put: (workspace: string, id: string, settings: Settings) => Effect.Effect<boolean, StorageFailed>
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, StorageFailed>
    /** Returns one page of Templates, and the number of Templates on all pages. */
    readonly list: (
      workspace: string,
      listing: Listing
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<Row>; readonly count: number }, StorageFailed>
  }
>()("@assembly-effect/emulator/TemplateStore") {}

const lastUsed = `(SELECT max(created_at) FROM assemblies
  WHERE assemblies.workspace = templates.workspace AND assemblies.template_id = templates.id)`

const sortKeys: Readonly<Record<Listing["sort"], string>> = {
  created: "created_at",
  id: "id",
  last_used: lastUsed,
  modified: "modified_at",
  name: "name"
}

/** The part of a query that selects the Templates for a list request. */
const listed = (sql: SqlClient.SqlClient, workspace: string, { from, keywords, to }: Listing) => sql`
  FROM templates
  WHERE workspace = ${workspace} AND created_at > ${from} AND created_at < ${to} AND NOT EXISTS (
    SELECT 1 FROM json_each(${JSON.stringify(keywords)}) AS keyword
    WHERE instr(lower(concat_ws(char(10), templates.id, name, content)), lower(keyword.value)) = 0
  )`

/** The query for one page of a list. Exported because a test checks the query plan. */
export const page = (sql: SqlClient.SqlClient, workspace: string, listing: Listing) => {
  const { limit, offset, order, sort } = listing
  const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
  return sql`SELECT *, ${sql.literal(sortKeys[sort])} AS sort_key ${listed(sql, workspace, listing)}
    ORDER BY sort_key ${direction}, rowid ${direction} LIMIT ${limit} OFFSET ${offset}`
}

const all = Statement.all(Row)
const first = Statement.first(Row)
const counted = Statement.one(Schema.Struct({ count: Schema.Int }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* Turns.Turns

  return TemplateStore.of({
    byId: (workspace, id) => first(sql`SELECT * FROM templates WHERE workspace = ${workspace} AND id = ${id}`),
    find: (workspace, idOrName) =>
      first(sql`
        SELECT * FROM templates WHERE workspace = ${workspace} AND (id = ${idOrName} OR name = ${idOrName})
        ORDER BY id = ${idOrName} DESC LIMIT 1`),
    put: Effect.fnUntraced(function* (workspace, id, settings) {
      const now = (yield* DateTime.now).epochMilliseconds
      const { assembly_status_expiry, name, require_signature_auth, transcoding_result_expiry } = settings
      const content = JSON.stringify(settings.content)
      return yield* Statement.isChange(sql`
        INSERT INTO templates (workspace, id, name, content, require_signature_auth, assembly_status_expiry,
          transcoding_result_expiry, created_at, modified_at)
        SELECT ${workspace}, ${id}, ${name}, ${content}, ${require_signature_auth}, ${assembly_status_expiry},
          ${transcoding_result_expiry}, ${now}, ${now}
        WHERE NOT EXISTS (SELECT 1 FROM templates WHERE workspace = ${workspace} AND name = ${name} AND id <> ${id})
        ON CONFLICT (workspace, id) DO UPDATE SET name = excluded.name, content = excluded.content,
          require_signature_auth = excluded.require_signature_auth,
          assembly_status_expiry = excluded.assembly_status_expiry,
          transcoding_result_expiry = excluded.transcoding_result_expiry, modified_at = excluded.modified_at`)
    }),
    remove: (workspace, id) => Statement.run(sql`DELETE FROM templates WHERE workspace = ${workspace} AND id = ${id}`),
    list: (workspace, listing) =>
      Effect.all({
        rows: all(page(sql, workspace, listing)),
        count: Effect.map(
          counted(sql`SELECT count(*) AS count ${listed(sql, workspace, listing)}`),
          ({ count }) => count
        )
      }).pipe(sql.withTransaction, Statement.stored, turns.take)
  })
})

export const layer: Layer.Layer<TemplateStore, never, SqlClient.SqlClient | Turns.Turns> = Layer.effect(
  TemplateStore,
  make
)
