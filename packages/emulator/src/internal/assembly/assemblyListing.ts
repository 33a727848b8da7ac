import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { formatDate, okOf, secondsBetween } from "./assemblyStatus.ts"
import * as AssemblyStore from "./assemblyStore.ts"
import * as Database from "../data/database.ts"
import * as Statement from "../data/statement.ts"
import * as Turns from "../http/turns.ts"

const Row = Schema.Struct({
  id: Assembly.AssemblyId,
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
 * The number of Assemblies that are searched in one turn of `Turns`. An Assembly has fewer than 22,000 characters of
 * text to search.
 */
const slice = 20

const Searched = Schema.Struct({ position: Schema.Int, created_at: Schema.Int, matches: Schema.Int })

const entry = Statement.rows(Row).one
const places = Statement.column(Schema.Int).all
const search = Statement.rows(Searched).all

type Filter = ReturnType<typeof toFilter>

const statements = (sql: SqlClient.SqlClient) => {
  const isListed = ({ from, to, type, workspace }: Filter) => sql`
    workspace = ${workspace} AND created_at > ${from} AND created_at < ${to}
      AND ${type === "all" ? sql.literal("true") : sql`state = ${type}`}`
  // LIMIT is a literal, because SQLite would plan the statement again each time a LIMIT parameter is bound.
  const limited = sql.literal(`LIMIT ${slice}`)
  const newestFirst = sql.literal("ORDER BY created_at DESC, assemblies.rowid DESC")

  return {
    places: (filter: Filter, limit: number, offset: bigint) => sql`
      SELECT rowid AS position FROM assemblies WHERE ${isListed(filter)} ${newestFirst} LIMIT ${limit} OFFSET ${offset}`,

    count: (filter: Filter) => sql`SELECT count(*) FROM assemblies WHERE ${isListed(filter)}`,

    /**
     * Reads the next slice of Assemblies. `matches` is 1 if the text of an Assembly contains every keyword, ignoring
     * the case of ASCII letters. The fields in this text are joined by line feeds, so that a keyword does not match
     * across two fields. From the second slice on, `filter.to` is just after the `created_at` of the last Assembly in
     * the previous slice, because SQLite starts to read the index at `filter.to`. With the original `filter.to`, each
     * slice would read all earlier slices again.
     */
    search: (filter: Filter, keywords: ReadonlyArray<string>, created_at: number | bigint, position: number) => sql`
      SELECT assemblies.rowid AS position, created_at, NOT EXISTS (
        SELECT 1 FROM json_each(${JSON.stringify(keywords)}) AS keyword
        WHERE instr(created || char(10) || files || char(10) || outcome, lower(keyword.value)) = 0
      ) AS matches
      FROM assemblies JOIN searches ON assembly_id = id
      WHERE ${isListed(filter)} AND (created_at < ${created_at} OR assemblies.rowid < ${position})
      ${newestFirst} ${limited}`,

    /** Selects the entry of one Assembly. An entry names the first 100 uploads, in at most 4096 characters. */
    entry: (position: number) => sql`
      SELECT id, state, parent_id, region, template_id, (
          SELECT name FROM templates WHERE templates.workspace = assemblies.workspace AND templates.id = template_id
        ) AS template_name, notify_url, redirect_url, error, (
          SELECT substr(group_concat(filename, ', '), 1, 4096) FROM (
            SELECT substr(filename, 1, 255) AS filename FROM uploads
            WHERE uploads.assembly_id = assemblies.id ORDER BY rowid LIMIT 100
          )
        ) AS files, created_at, uploaded_at, ended_at, input_files, input_bytes, output_bytes
      FROM assemblies WHERE rowid = ${position}`
  }
}

const toEntry = ({ uploaded_at, ...row }: typeof Row.Type): AssemblyList.Entry => ({
  id: row.id,
  created: formatDate(row.created_at),
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
  // Like the service, the list omits the field until the uploads have ended.
  ...(uploaded_at === null ? {} : { upload_duration: secondsBetween(row.created_at, uploaded_at) ?? 0 }),
  execution_duration: secondsBetween(uploaded_at, row.ended_at)
})

const toFilter = (workspace: string, query: AssemblyList.Query) => ({
  workspace,
  from: query.fromDate.epochMilliseconds,
  to: query.toDate?.epochMilliseconds ?? Database.maxInteger,
  type: query.type ?? AssemblyList.defaults.type
})

/** The list of Assemblies, page by page (spec.md, "Retrieve list of Assemblies"). */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const select = statements(sql)

  /**
   * The positions of all matching Assemblies. The Assemblies are searched in slices, because one long statement would
   * block all other requests.
   */
  const matching = Effect.fnUntraced(function* (filter: Filter, keywords: ReadonlyArray<string>) {
    const found: Array<number> = []
    let rest = filter
    let createdAt: number | bigint = filter.to
    let position = 0
    while (true) {
      const searched = yield* Turns.share(search(select.search(rest, keywords, createdAt, position)))
      for (const row of searched) if (row.matches === 1) found.push(row.position)
      const last = searched.at(-1)
      if (last === undefined || searched.length < slice) return found
      createdAt = last.created_at
      position = last.position
      rest = { ...filter, to: last.created_at + 1 }
    }
  })

  const find = Effect.fnUntraced(function* (workspace: string, query: AssemblyList.Query) {
    const filter = toFilter(workspace, query)
    const { keywords = [], page = AssemblyList.defaults.page, pageSize: limit = AssemblyList.defaults.pageSize } = query
    const offset = Database.offsetOf(page, limit)
    if (keywords.length > 0) {
      const found = yield* matching(filter, keywords)
      return { positions: found.slice(Number(offset), Number(offset) + limit), count: found.length }
    }
    return yield* Effect.all({
      positions: places(select.places(filter, limit, offset)),
      count: Statement.count(select.count(filter))
    }).pipe(sql.withTransaction, Statement.stored, Turns.take)
  })

  return Effect.fnUntraced(function* (workspace: string, query: AssemblyList.Query) {
    const { count: total, positions } = yield* find(workspace, query)
    const items = yield* Turns.mapSlices(positions, (some) =>
      Effect.forEach(some, (position) => Effect.map(entry(select.entry(position)), toEntry))
    )
    return { items, count: total }
  })
})

const encodeEntry = Schema.encodeSync(AssemblyList.Entry)

/** Encodes a page as JSON, slice by slice, because a page may have thousands of entries. */
export const encode = Effect.fnUntraced(function* ({ items, ...page }: AssemblyList.Page) {
  return { items: yield* Turns.map(items, (item) => encodeEntry(item)), ...page }
})
