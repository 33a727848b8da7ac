import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Turns from "../http/turns.ts"
import * as SlotUse from "./slotUse.ts"

/** Selects slots. `region` may be `all`. */
export interface Filter {
  readonly workspace: string
  readonly region: string
  readonly since: DateTime.Utc
}

const Region = Schema.Struct({ region: Schema.String, count: Schema.Int })
const Moment = Schema.Struct({ at: Schema.Int, count: Schema.Int })
type Moment = typeof Moment.Type

const regions = Statement.rows(Region).all
const moments = Statement.rows(Moment).all

/**
 * The maximum number of rows that `taken` and `released` each read at once. Each row counts the slots that were taken,
 * or released, in one millisecond.
 */
const slice = 1000

/** The statements that count slots. This function is exported, because a test checks the query plans. */
export const statements = (sql: SqlClient.SqlClient, { region, workspace }: Omit<Filter, "since">) => {
  const selected = sql`workspace = ${workspace} AND ${region === "all" ? sql.literal("true") : sql`region = ${region}`}`
  // LIMIT is a literal, because SQLite would plan the statement again each time a LIMIT parameter is bound. The states
  // are literals, because SQLite uses a partial index only if the statement contains the condition of the index.
  const limited = sql.literal(`LIMIT ${slice}`)
  const executing = sql.literal("state = 'executing'")
  const executed = sql.literal("uploaded_at IS NOT NULL")

  return {
    current: sql`
      SELECT region, count(*) AS count FROM assemblies WHERE ${selected} AND ${executing}
      GROUP BY region ORDER BY region`,
    /**
     * Counts the slots that were in use just before `time`. The count is the number of slots in use now, plus the slots
     * that were released since `time`, minus the slots that were taken since `time`.
     */
    before: (time: number) => sql`
      SELECT (SELECT count(*) FROM assemblies WHERE ${selected} AND ${executing})
        + (SELECT count(*) FROM assemblies WHERE ${selected} AND ${executed} AND ended_at >= ${time})
        - (SELECT count(*) FROM assemblies WHERE ${selected} AND uploaded_at >= ${time})`,
    taken: (from: number, until: number) => sql`
      SELECT uploaded_at AS at, count(*) AS count FROM assemblies
      WHERE ${selected} AND uploaded_at >= ${from} AND uploaded_at < ${until}
      GROUP BY uploaded_at ORDER BY uploaded_at ${limited}`,
    released: (from: number, until: number) => sql`
      SELECT ended_at AS at, count(*) AS count FROM assemblies
      WHERE ${selected} AND ${executed} AND ended_at >= ${from} AND ended_at < ${until}
      GROUP BY ended_at ORDER BY ended_at ${limited}`
  }
}

/**
 * The end (exclusive) of the time that a slice covers. A slice with fewer than `slice` rows ends at `until`. Any other
 * slice ends one millisecond after its last row, because more rows may follow.
 */
const endOf = (rows: ReadonlyArray<Moment>, until: number): number => {
  const last = rows.at(-1)
  return last === undefined || rows.length < slice ? until : last.at + 1
}

/** Merges the moments before `end` into changes in order of time. */
const merge = (
  taken: ReadonlyArray<Moment>,
  released: ReadonlyArray<Moment>,
  end: number
): ReadonlyArray<SlotUse.Change> => {
  const byTime = new Map(taken.map(({ at, count }) => [at, { at, taken: count, released: 0 }]))
  for (const { at, count } of released) {
    byTime.set(at, { at, taken: byTime.get(at)?.taken ?? 0, released: count })
  }
  return [...byTime.values()].filter(({ at }) => at < end).toSorted((left, right) => left.at - right.at)
}

/**
 * The job slots of the Workspaces. An Assembly has one slot while it executes. The history of the slots needs no
 * table of its own, because the Assemblies have the times at which their executions started and ended.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** The slots that are in use now. */
    current: Effect.fnUntraced(function* (workspace: string) {
      const found = yield* Turns.share(regions(statements(sql, { workspace, region: "all" }).current))
      return {
        count: found.reduce((total, { count }) => total + count, 0),
        slots: Object.fromEntries(found.map(({ count, region }) => [region, count]))
      }
    }),
    /** The use of the slots from `since` until now. `bucketLength` is in milliseconds. */
    history: Effect.fnUntraced(function* (filter: Filter, bucketLength: number) {
      const select = statements(sql, filter)
      const since = filter.since.epochMilliseconds
      // Only times before now count, so an Assembly that starts or ends during the reading does not change the result.
      const until = (yield* DateTime.now).epochMilliseconds
      const count = yield* Turns.take(Statement.count(select.before(since)))
      const use = SlotUse.counter({ since, until, bucketLength }, count)
      let from = since
      while (from < until) {
        const start = from
        from = yield* Turns.share(
          Effect.gen(function* () {
            const taken = yield* moments(select.taken(start, until))
            const released = yield* moments(select.released(start, until))
            const end = Math.min(endOf(taken, until), endOf(released, until))
            for (const change of merge(taken, released, end)) use.apply(change)
            return end
          })
        )
      }
      return use.summarize()
    })
  }
})
