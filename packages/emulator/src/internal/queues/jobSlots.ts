import * as Operations from "@assembly-effect/api/Queues"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import type * as Queue from "@assembly-effect/schema/Queue"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Turns from "../http/turns.ts"
import { readAsked } from "../statistics/statistics.ts"
import * as SlotUse from "./slotUse.ts"

/** Selects slots. `region` may be `all`. */
interface Filter {
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

const invalidRegion = (message: string) => Refusal.refuse("PRIORITY_JOB_SLOT_STATS_MISSING_REGION", 400, message)
const invalidTime = (message: string) => Refusal.refuse("PRIORITY_JOB_SLOT_STATS_INVALID_TIME", 400, message)

/**
 * Reports a missing or invalid region first, then an invalid aggregation. A form or `params` that cannot be read has
 * the error code of a missing region. All other issues have the error code of an invalid time.
 */
const invalid = (issues: ReadonlyArray<Issue>): Refusal.Refusal => {
  const message = Refusal.explain(issues)
  const has = (...keys: ReadonlyArray<PropertyKey | undefined>) => issues.some(({ path: [key] }) => keys.includes(key))
  if (has("region", "params", undefined)) return invalidRegion(message)
  return has("aggregation")
    ? Refusal.refuse("PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION", 400, message)
    : invalidTime(message)
}

const unavailable = Refusal.refuse("PRIORITY_JOB_SLOT_STATS_ERROR", 500, "The statistics cannot be read from the disk.")

/** The longest time window with a bucket for each minute. A longer time window has a bucket for each hour. */
const longestInMinutes = Duration.days(1)

/** The length of a bucket in seconds. */
const granularityOf = (since: DateTime.Utc, now: DateTime.Utc): number =>
  DateTime.isLessThan(since, DateTime.subtractDuration(now, longestInMinutes)) ? 3600 : 60

const toBucket =
  (aggregation: "avg" | "max") =>
  ({ average, most, start }: SlotUse.BucketUse): Queue.Bucket => ({
    data_from_ts: start / 1000,
    avg_slot_count: average,
    max_slot_count: most,
    slot_count: aggregation === "avg" ? average : most
  })

const routes = Effect.gen(function* () {
  const slots = yield* make

  return yield* Effect.all([
    Route.signed(Operations.JobSlots, {
      handle: ({ authKey }) =>
        Effect.map(slots.current(authKey.workspace), (current) =>
          Route.success("PRIORITY_JOB_SLOTS_FOUND", "The priority job slots were found.", {
            priority_job_slots: current
          })
        )
    }),
    Route.signed(Operations.Statistics, {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const { now, since } = yield* readAsked(params, invalidRegion, invalidTime)
        const granularity = granularityOf(since, now)
        const aggregation = params.aggregation ?? "avg"
        const { average, buckets, most } = yield* slots
          .history({ workspace: authKey.workspace, region: params.region, since }, granularity * 1000)
          .pipe(
            Effect.catchTag("StorageFailed", ({ message }) =>
              Effect.andThen(Effect.logError(`Queues.statistics: ${message}`), Effect.fail(unavailable))
            )
          )
        return Route.success("PRIORITY_JOB_SLOT_STATS_FOUND", "The statistics of the priority job slots were found.", {
          aggregation,
          avgSlotCount: average,
          maxSlotCount: most,
          granularity,
          stats: buckets.map(toBucket(aggregation))
        })
      })
    })
  ])
})

/**
 * The routes `/queues/job_slots` and `/priority_job_slot_stats`. The details of these routes are beyond the
 * specification, which names the operations but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
