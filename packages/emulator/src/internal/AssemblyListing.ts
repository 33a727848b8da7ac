import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../EmulatorError.ts"
import { okOf } from "./AssemblyStatus.ts"
import * as AssemblyStore from "./AssemblyStore.ts"
import * as Database from "./Database.ts"
import * as ServiceDate from "./ServiceDate.ts"
import * as Turns from "./Turns.ts"

/** The list of Assemblies, page by page (spec.md, "Retrieve list of Assemblies"). */
export class AssemblyListing extends Context.Service<
  AssemblyListing,
  {
    readonly page: (workspace: string, query: AssemblyList.Query) => Effect.Effect<AssemblyList.Page, StorageFailed>
  }
>()("@assembly-effect/emulator/AssemblyListing") {}

const Row = Schema.Struct({
  id: Schema.String,
  state: AssemblyStore.State,
  parent_id: Schema.NullOr(Schema.String),
  region: Schema.String,
  template_id: Schema.NullOr(Schema.String),
  template_name: Schema.NullOr(Schema.String),
  notify_url: Schema.NullOr(Schema.String),
  redirect_url: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  files: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  uploaded_at: Schema.NullOr(Schema.Int),
  ended_at: Schema.NullOr(Schema.Int),
  input_files: Schema.Int,
  input_bytes: Schema.Int,
  output_bytes: Schema.Int
})

/**
 * A page holds Assemblies in which every keyword occurs somewhere, upper and lower case alike. Lines keep a keyword
 * from matching across two fields.
 */
const matching = `
WITH listed AS (
  SELECT assemblies.*, assemblies.rowid AS position, (
    SELECT group_concat(filename, ', ') FROM uploads WHERE uploads.assembly_id = assemblies.id
  ) AS files, (
    SELECT name FROM templates WHERE templates.workspace = assemblies.workspace AND templates.id = template_id
  ) AS template_name
  FROM assemblies
  WHERE workspace = :workspace AND created_at > :from AND created_at < :to AND (:type = 'all' OR state = :type)
), matching AS (
  SELECT * FROM listed WHERE NOT EXISTS (
    SELECT 1 FROM json_each(:keywords) AS keyword
    WHERE instr(
      lower(concat_ws(char(10), id, redirect_url, fields, notify_url, error, message, files)),
      lower(keyword.value)
    ) = 0
  )
)`

const pageSql = `${matching}
SELECT id, state, parent_id, region, template_id, template_name, notify_url, redirect_url, error, files, created_at,
  uploaded_at, ended_at, input_files, input_bytes, output_bytes
FROM matching ORDER BY created_at DESC, position DESC LIMIT :limit OFFSET :offset`

const countSql = `${matching} SELECT count(*) AS count FROM matching`

const seconds = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : (to - from) / 1000

/** The service says it of uploads that have ended, and has no null for the others. */
const uploadDuration = ({ created_at, uploaded_at }: typeof Row.Type): { readonly upload_duration?: number } => {
  const duration = seconds(created_at, uploaded_at)
  return duration === null ? {} : { upload_duration: duration }
}

const toEntry = (row: typeof Row.Type): AssemblyList.Entry => ({
  id: row.id,
  created: ServiceDate.format(row.created_at),
  created_ts: Math.floor(row.created_at / 1000),
  ok: okOf(row),
  error: row.error,
  region: row.region,
  template_id: row.template_id,
  template_name: row.template_name,
  parent_id: row.parent_id,
  notify_url: row.notify_url,
  redirect_url: row.redirect_url,
  files: row.files,
  num_input_files: row.input_files,
  bytes_received: row.input_bytes,
  bytes_usage: row.input_bytes + row.output_bytes,
  ...uploadDuration(row),
  execution_duration: seconds(row.uploaded_at, row.ended_at)
})

const toFilter = (workspace: string, query: AssemblyList.Query): Database.Parameters => ({
  workspace,
  from: query.fromDate.epochMilliseconds,
  to: query.toDate?.epochMilliseconds ?? Database.maxInteger,
  type: query.type ?? AssemblyList.defaults.type,
  keywords: JSON.stringify(query.keywords ?? AssemblyList.defaults.keywords)
})

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const page = database.query(Row, pageSql)
  const turns = yield* Turns.Turns
  const count = database.query(Schema.Struct({ count: Schema.Int }), countSql)

  return AssemblyListing.of({
    page: (workspace, query) => {
      const filter = toFilter(workspace, query)
      const limit = query.pageSize ?? AssemblyList.defaults.pageSize
      const offset = Database.offsetOf(query.page ?? AssemblyList.defaults.page, limit)
      return turns.take(
        database.transaction(() => ({
          items: page.all({ ...filter, limit, offset }).map(toEntry),
          count: Option.getOrThrow(count.first(filter)).count
        }))
      )
    }
  })
})

export const layer: Layer.Layer<AssemblyListing, never, Database.Database | Turns.Turns> = Layer.effect(
  AssemblyListing,
  make
)
