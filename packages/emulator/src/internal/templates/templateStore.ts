import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Template from "../../Template.ts"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Database from "../data/database.ts"
import * as Refusal from "../http/refusal.ts"
import * as Turns from "../http/turns.ts"

/** A Template in the database. Times are milliseconds since the epoch. */
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

/** Beyond the specification. */
export const notFound = new Refusal.Refusal({
  code: "TEMPLATE_NOT_FOUND",
  status: 404,
  message: "There is no such Template in this Workspace."
})

/** A list request. Times are milliseconds since the epoch. */
export interface Listing {
  readonly from: number
  readonly to: number
  readonly keywords: ReadonlyArray<string>
  readonly sort: "created" | "id" | "last_used" | "modified" | "name"
  readonly order: "asc" | "desc"
  readonly limit: number
  readonly offset: bigint
}

/** The Templates of every Workspace. */
export class TemplateStore extends Context.Service<
  TemplateStore,
  {
    readonly byId: (workspace: string, id: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** Finds a Template by its id, else by its name. */
    readonly find: (workspace: string, idOrName: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** Creates or replaces a Template. Answers false if another one has the name. */
    readonly put: (workspace: string, id: string, settings: Settings) => Effect.Effect<boolean, StorageFailed>
    /** Like `put`, for use inside a transaction. `now` is milliseconds since the epoch. */
    readonly write: (workspace: string, id: string, settings: Settings, now: number) => boolean
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, StorageFailed>
    /** One page, and the number of Templates on all pages. */
    readonly list: (
      workspace: string,
      listing: Listing
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<Row>; readonly count: number }, StorageFailed>
  }
>()("@assembly-effect/emulator/TemplateStore") {}

const putSql = `
INSERT INTO templates (workspace, id, name, content, require_signature_auth, assembly_status_expiry,
  transcoding_result_expiry, created_at, modified_at)
SELECT :workspace, :id, :name, :content, :requireSignatureAuth, :assemblyStatusExpiry, :transcodingResultExpiry,
  :now, :now
WHERE NOT EXISTS (SELECT 1 FROM templates WHERE workspace = :workspace AND name = :name AND id <> :id)
ON CONFLICT (workspace, id) DO UPDATE SET name = :name, content = :content, modified_at = :now,
  require_signature_auth = :requireSignatureAuth, assembly_status_expiry = :assemblyStatusExpiry,
  transcoding_result_expiry = :transcodingResultExpiry`

const listed = `
FROM templates
WHERE workspace = :workspace AND created_at > :from AND created_at < :to AND NOT EXISTS (
  SELECT 1 FROM json_each(:keywords) AS keyword
  WHERE instr(lower(concat_ws(char(10), templates.id, name, content)), lower(keyword.value)) = 0
)`

const lastUsed = `(SELECT max(created_at) FROM assemblies
  WHERE assemblies.workspace = templates.workspace AND assemblies.template_id = templates.id)`

const orderedBy = (key: string) => `
CASE WHEN :order = 'asc' THEN ${key} END ASC, CASE WHEN :order = 'desc' THEN ${key} END DESC`

/** `:sort` selects an expression, since a column cannot be a parameter. */
export const pageSql = `
SELECT *, CASE :sort WHEN 'id' THEN id WHEN 'name' THEN name WHEN 'modified' THEN modified_at
  WHEN 'last_used' THEN ${lastUsed} ELSE created_at END AS sort_key
${listed}
ORDER BY ${orderedBy("sort_key")}, ${orderedBy("rowid")} LIMIT :limit OFFSET :offset`

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const turns = yield* Turns.Turns
  const byId = database.query(Row, "SELECT * FROM templates WHERE workspace = :workspace AND id = :id")
  const find = database.query(
    Row,
    `SELECT * FROM templates WHERE workspace = :workspace AND (id = :idOrName OR name = :idOrName)
     ORDER BY id = :idOrName DESC LIMIT 1`
  )
  const put = database.command(putSql)
  const write = (workspace: string, id: string, settings: Settings, now: number): boolean =>
    put({
      workspace,
      id,
      now,
      name: settings.name,
      content: JSON.stringify(settings.content),
      requireSignatureAuth: settings.require_signature_auth,
      assemblyStatusExpiry: settings.assembly_status_expiry,
      transcodingResultExpiry: settings.transcoding_result_expiry
    }) === 1
  const remove = database.command("DELETE FROM templates WHERE workspace = :workspace AND id = :id")
  const page = database.query(Row, pageSql)
  const count = database.query(Schema.Struct({ count: Schema.Int }), `SELECT count(*) AS count ${listed}`)

  return TemplateStore.of({
    byId: (workspace, id) => database.run(() => byId.first({ workspace, id })),
    find: (workspace, idOrName) => database.run(() => find.first({ workspace, idOrName })),
    put: Effect.fnUntraced(function* (workspace, id, settings) {
      const now = (yield* DateTime.now).epochMilliseconds
      return yield* database.run(() => write(workspace, id, settings, now))
    }),
    write,
    remove: (workspace, id) => database.run(() => void remove({ workspace, id })),
    list: (workspace, { from, keywords, limit, offset, order, sort, to }) => {
      const filter = { workspace, from, to, keywords: JSON.stringify(keywords) }
      return turns.take(
        database.transaction(() => ({
          rows: page.all({ ...filter, sort, order, limit, offset }),
          count: Option.getOrThrow(count.first(filter)).count
        }))
      )
    }
  })
})

export const layer: Layer.Layer<TemplateStore, never, Database.Database | Turns.Turns> = Layer.effect(
  TemplateStore,
  make
)
