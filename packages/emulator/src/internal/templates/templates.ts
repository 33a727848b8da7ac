import * as Operations from "@assembly-effect/api/Templates"
import * as Template from "@assembly-effect/schema/Template"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as HttpRouter from "effect/http/HttpRouter"
import * as SqlClient from "effect/sql/SqlClient"
import * as Database from "../data/database.ts"
import * as Ids from "../data/ids.ts"
import * as KeywordLimit from "../data/keywordLimit.ts"
import * as NamedRows from "../data/namedRows.ts"
import * as Statement from "../data/statement.ts"
import * as TextField from "../data/textField.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Turns from "../http/turns.ts"
import * as Limits from "../limits.ts"

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
type Listed = typeof Listed.Type

export const defaults = {
  require_signature_auth: false,
  assembly_status_expiry: null,
  transcoding_result_expiry: null
} as const

const lastUsed = `(SELECT max(created_at) FROM assemblies
  WHERE assemblies.workspace = templates.workspace AND assemblies.template_id = templates.id)`

/** The part of a statement that selects the Templates for a list request. */
const listed = (
  sql: SqlClient.SqlClient,
  workspace: string,
  { fromDate, keywords = [], toDate }: Template.Query
) => sql`
  FROM templates
  WHERE workspace = ${workspace} AND created_at > ${fromDate?.epochMilliseconds ?? 0}
    AND created_at < ${toDate?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER} AND NOT EXISTS (
      SELECT 1 FROM json_each(${JSON.stringify(keywords)}) AS keyword
      WHERE instr(lower(concat_ws(char(10), templates.id, name, content)), lower(keyword.value)) = 0
    )`

/** The statement for one page of a list. This function is exported, because a test checks the query plan. */
export const pageOf = (sql: SqlClient.SqlClient, workspace: string, query: Template.Query) => {
  const { order = "desc", page = 1, pageSize = 50, sort = "created" } = query
  return sql`
    SELECT *, ${sql.literal(lastUsed)} AS last_used ${listed(sql, workspace, query)}
    ${NamedRows.orderBy(sql, { order, sort })} LIMIT ${pageSize} OFFSET ${Database.offsetOf(page, pageSize)}`
}

/** The refusal of an unknown Template. The specification does not define the error code. */
const notFound = Refusal.refuse("TEMPLATE_NOT_FOUND", 404, "There is no such Template in this Workspace.")

const { all } = Statement.rows(Listed)

/** Stores the Templates of all Workspaces. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* NamedRows.make("templates", Row, {
    // Selects a Template by its id, else by its name.
    at: (workspace, idOrName) => sql`
      workspace = ${workspace} AND (id = ${idOrName} OR name = ${idOrName}) ORDER BY id = ${idOrName} DESC LIMIT 1`,
    missing: notFound,
    taken: Refusal.refused(400, "name: Another Template of the Workspace has this name.")
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
    list: (workspace: string, query: Template.Query) =>
      Effect.all({
        rows: all(pageOf(sql, workspace, query)),
        count: Statement.count(sql`SELECT count(*) ${listed(sql, workspace, query)}`)
      }).pipe(sql.withTransaction, Statement.stored, Turns.take)
  }
})
export type Store = Effect.Success<typeof make>

type Settings = Omit<Row, "created_at" | "id" | "modified_at" | "workspace">

/** The settings of a Template after a change. */
const changed = (base: Settings, request: Template.UpdateRequest): Settings => ({
  name: request.name ?? base.name,
  content: request.template ?? base.content,
  require_signature_auth: request.requireSignatureAuth ?? base.require_signature_auth,
  assembly_status_expiry: request.assemblyStatusExpiry ?? base.assembly_status_expiry,
  transcoding_result_expiry: request.transcodingResultExpiry ?? base.transcoding_result_expiry
})

const toShown = (row: Row) => Struct.omit(row, ["created_at", "modified_at", "workspace"])

const toItem = ({ last_used, ...row }: Listed): Template.Item => ({
  ...toShown(row),
  created: DateTime.makeUnsafe(row.created_at),
  modified: DateTime.makeUnsafe(row.modified_at),
  last_used
})

/** The empty list of Builtin Templates. The emulator has no Builtin Templates. */
const noBuiltin = { count: 0, items: [] }

const routes = Effect.gen(function* () {
  const { jsonDepth } = yield* Limits.Limits
  const templates = yield* make
  const newId = yield* Ids.hex

  // The content may also be JSON text, as the service documents it.
  return yield* Effect.all([
    Route.signed(Operations.Get, {
      unknown: notFound,
      invalid: Refusal.invalidForm,
      handle: ({ authKey, path }) =>
        Effect.map(templates.find(authKey.workspace, path.templateIdOrName), (row) =>
          Route.success("TEMPLATE_FOUND", "The Template was found.", toShown(row))
        )
    }),
    Route.signed(
      { ...Operations.Create, params: TextField.orText(Operations.Create.params, "template", jsonDepth) },
      {
        handle: Effect.fnUntraced(function* ({ authKey: { workspace }, params }) {
          const now = yield* Clock.currentTimeMillis
          const row = {
            ...changed({ ...defaults, name: params.name, content: params.template }, params),
            id: yield* newId,
            workspace,
            created_at: now,
            modified_at: now
          }
          return Route.success("TEMPLATE_CREATED", "The Template was created.", toShown(yield* templates.put(row)))
        })
      }
    ),
    Route.signed(
      { ...Operations.Update, params: TextField.orText(Operations.Update.params, "template", jsonDepth) },
      {
        code: "TEMPLATE_VALIDATION_ERROR",
        unknown: notFound,
        handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
          const row = yield* templates.change(authKey.workspace, path.templateIdOrName, (before) =>
            Effect.succeed({ ...before, ...changed(before, params) })
          )
          return Route.success("TEMPLATE_UPDATED", "The Template was updated.", toShown(row))
        })
      }
    ),
    Route.signed(Operations.Delete, {
      unknown: notFound,
      invalid: Refusal.invalidForm,
      handle: ({ authKey, path }) =>
        Effect.as(
          templates.remove(authKey.workspace, path.templateIdOrName),
          Route.success("TEMPLATE_DELETED", "The Template was deleted.", {})
        )
    }),
    Route.signed(Operations.List, {
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        yield* KeywordLimit.check(params.keywords ?? [])
        if (params.includeBuiltin?.startsWith("exclusively-")) return noBuiltin
        const { count, rows } = yield* templates.list(authKey.workspace, params)
        return { count, items: rows.map(toItem) }
      })
    })
  ])
})

/**
 * The routes under `/templates`. The details of these routes are beyond the specification, which names the operations
 * but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
