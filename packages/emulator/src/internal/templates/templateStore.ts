import * as Template from "@assembly-effect/schema/Template"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as Turns from "../http/turns.ts"

/** A Template in the database. `created_at` and `modified_at` are milliseconds since the epoch. */
export const Row = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  name: Schema.String,
  content: Schema.fromJsonString(Template.StoredContent),
  require_signature_auth: Schema.Literals([0, 1]),
  assembly_status_expiry: Schema.NullOr(Schema.String),
  transcoding_result_expiry: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  modified_at: Schema.Int
})
export type Row = typeof Row.Type

/** A Template in a list. `last_used` is the time of the last Assembly with this Template. */
const Listed = Schema.Struct({ ...Row.fields, last_used: Schema.NullOr(Schema.Int) })
export type Listed = typeof Listed.Type

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

/** The refusal of an unknown Template. The specification does not define the error code. */
export const notFound = Refusal.refuse("TEMPLATE_NOT_FOUND", 404, "There is no such Template in this Workspace.")

/** Why a Template cannot be stored. */
export type Problem = "NotFound" | "NameTaken"

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

const lastUsed = `(SELECT max(created_at) FROM assemblies
  WHERE assemblies.workspace = templates.workspace AND assemblies.template_id = templates.id)`

const sortKeys: Readonly<Record<Listing["sort"], string>> = {
  created: "created_at",
  id: "id",
  last_used: "last_used",
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

/** The query for one page of a list. This function is exported, because a test checks the query plan. */
export const page = (sql: SqlClient.SqlClient, workspace: string, listing: Listing) => {
  const { limit, offset, order, sort } = listing
  const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
  return sql`SELECT *, ${sql.literal(lastUsed)} AS last_used ${listed(sql, workspace, listing)}
    ORDER BY ${sql.literal(sortKeys[sort])} ${direction}, rowid ${direction} LIMIT ${limit} OFFSET ${offset}`
}

const all = Statement.all(Listed)
const first = Statement.first(Row)
const one = Statement.one(Row)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* Turns.Turns

  /** The condition that selects a Template by its id, else by its name. */
  const named = (workspace: string, idOrName: string) => sql`
    workspace = ${workspace} AND (id = ${idOrName} OR name = ${idOrName}) ORDER BY id = ${idOrName} DESC LIMIT 1`

  /** Finds a Template by its id, else by its name. */
  const find = (workspace: string, idOrName: string) =>
    first(sql`SELECT * FROM templates WHERE ${named(workspace, idOrName)}`)

  /** Creates or replaces a Template. Returns false if another Template of the Workspace has the same name. */
  const put = Effect.fnUntraced(function* (workspace: string, id: string, settings: Settings) {
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
  })

  const create = Effect.fnUntraced(function* (workspace: string, id: string, settings: Settings) {
    if (!(yield* put(workspace, id, settings))) return yield* Effect.fail("NameTaken" as const)
    return yield* one(sql`SELECT * FROM templates WHERE workspace = ${workspace} AND id = ${id}`)
  })

  return {
    byId: (workspace: string, id: string) =>
      first(sql`SELECT * FROM templates WHERE workspace = ${workspace} AND id = ${id}`),
    find,
    put,
    create: (workspace: string, id: string, settings: Settings) =>
      create(workspace, id, settings).pipe(sql.withTransaction, Statement.stored),
    /**
     * Changes a Template in one transaction, so that concurrent changes of different settings do not undo each other.
     */
    change: (workspace: string, idOrName: string, next: (row: Row) => Settings) =>
      Effect.gen(function* () {
        const row = yield* find(workspace, idOrName)
        if (Option.isNone(row)) return yield* Effect.fail("NotFound" as const)
        return yield* create(workspace, row.value.id, next(row.value))
      }).pipe(sql.withTransaction, Statement.stored),
    /** Deletes a Template. Returns false if there is no such Template. */
    remove: (workspace: string, idOrName: string) =>
      Statement.isChange(
        sql`DELETE FROM templates WHERE rowid = (SELECT rowid FROM templates WHERE ${named(workspace, idOrName)})`
      ),
    /** Returns one page of Templates, and the number of Templates on all pages. */
    list: (workspace: string, listing: Listing) =>
      Effect.all({
        rows: all(page(sql, workspace, listing)),
        count: Statement.count(sql`SELECT count(*) AS count ${listed(sql, workspace, listing)}`)
      }).pipe(sql.withTransaction, Statement.stored, turns.take)
  }
})

/** Stores the Templates of all Workspaces. */
export class TemplateStore extends Context.Service<TemplateStore>()("@assembly-effect/emulator/TemplateStore", {
  make
}) {}

export const layer = Layer.effect(TemplateStore, TemplateStore.make)
