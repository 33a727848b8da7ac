import * as Operations from "@assembly-effect/api/Assemblies"
import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as HttpRouter from "effect/http/HttpRouter"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Turns from "../http/turns.ts"

/** The length of a time bucket in seconds. */
const granularity = 3600

const Row = Schema.Struct({
  bucket: Schema.Int,
  assemblies: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  canceled: Schema.Int,
  aborted: Schema.Int,
  input_files: Schema.Int,
  input_bytes: Schema.Int,
  output_files: Schema.Int,
  output_bytes: Schema.Int,
  upload_millis: Schema.Int,
  execution_millis: Schema.Int
})
type Row = typeof Row.Type

const ErrorRow = Schema.Struct({ bucket: Schema.Int, error: Schema.String, assemblies: Schema.Int })
type ErrorRow = typeof ErrorRow.Type

const buckets = Statement.rows(Row).all
const errors = Statement.rows(ErrorRow).all

/**
 * The statements that count Assemblies by bucket. `region` and `templateId` may be `all`. An undefined `templateId`
 * selects the Assemblies without a Template.
 */
const statements = (
  sql: SqlClient.SqlClient,
  workspace: string,
  { region, templateId }: AssemblyStatistics.Query,
  since: DateTime.Utc
) => {
  const bucket = sql.literal(`created_at / 1000 / ${granularity} * ${granularity}`)
  const counted = sql`
    FROM assemblies
    WHERE workspace = ${workspace} AND created_at >= ${since.epochMilliseconds}
      AND ${region === "all" ? sql.literal("true") : sql`region = ${region}`}
      AND ${templateId === "all" ? sql.literal("true") : sql`template_id IS ${templateId ?? null}`}`
  return {
    buckets: sql`
      SELECT ${bucket} AS bucket, count(*) AS assemblies,
        sum(state = 'completed') AS completed, sum(state = 'failed') AS failed,
        sum(state = 'canceled') AS canceled, sum(state = 'request_aborted') AS aborted,
        sum(input_files) AS input_files, sum(input_bytes) AS input_bytes,
        sum(output_files) AS output_files, sum(output_bytes) AS output_bytes,
        sum(coalesce(max(0, uploaded_at - created_at), 0)) AS upload_millis,
        sum(coalesce(max(0, ended_at - uploaded_at), 0)) AS execution_millis
      ${counted} GROUP BY bucket`,
    errors: sql`
      SELECT ${bucket} AS bucket, error, count(*) AS assemblies
      ${counted} AND error IS NOT NULL GROUP BY bucket, error ORDER BY bucket, error`
  }
}

const nothing = Record.map(Struct.omit(Row.fields, ["bucket"]), () => 0)

const ratio = (amount: number, of: number): number => (of === 0 ? 0 : amount / of)

/** The speed in megabits per second. The speed is 0 if the duration is 0. */
const speed = (bytes: number, millis: number): number => ratio(bytes * 8, millis * 1000)

/** The time in the queue, which is always 0, because the emulator has no queue. */
const queueDuration = 0

const toBucket = (row: Row): AssemblyStatistics.StatsBucket => ({
  data_from_ts: row.bucket,
  avg_execution_duration: ratio(row.execution_millis / 1000, row.assemblies),
  avg_input_file_sizes: Math.round(ratio(row.input_bytes, row.assemblies)),
  avg_live_queue_duration: queueDuration,
  avg_output_file_sizes: Math.round(ratio(row.output_bytes, row.assemblies)),
  avg_processing_speed: speed(row.input_bytes, row.execution_millis),
  avg_upload_duration: ratio(row.upload_millis / 1000, row.assemblies),
  avg_upload_speed: speed(row.input_bytes, row.upload_millis),
  num_assemblies: row.assemblies,
  num_bytes: row.input_bytes + row.output_bytes,
  num_cancelled_assemblies: row.canceled,
  num_erroneous_assemblies: row.failed,
  num_files: row.input_files + row.output_files,
  num_request_aborted_assemblies: row.aborted,
  num_successful_assemblies: row.completed,
  total_bytes_usage: row.input_bytes + row.output_bytes,
  total_execution_duration: row.execution_millis / 1000,
  total_live_queue_duration: queueDuration,
  total_num_output_files: row.output_files,
  total_num_uploaded_bytes: row.input_bytes,
  total_output_file_sizes: row.output_bytes,
  total_upload_duration: row.upload_millis / 1000
})

/** All buckets from `since` to `now`, including empty buckets. */
const fillIn = (rows: ReadonlyArray<Row>, since: number, now: number): ReadonlyArray<Row> => {
  const byBucket = new Map(rows.map((row) => [row.bucket, row]))
  const first = Math.floor(since / 1000 / granularity)
  const length = Math.max(0, Math.floor(now / 1000 / granularity) - first + 1)
  return Array.from({ length }, (_, index) => {
    const start = (first + index) * granularity
    return byBucket.get(start) ?? { bucket: start, ...nothing }
  })
}

const totals = (rows: ReadonlyArray<Row>) => {
  const total = (key: keyof Row) => rows.reduce((sum, row) => sum + row[key], 0)
  return {
    totalAssemblies: total("assemblies"),
    totalBytesProcessed: total("input_bytes") + total("output_bytes"),
    totalBytesUploaded: total("input_bytes"),
    totalExecutionDuration: total("execution_millis") / 1000,
    totalFilesProcessed: total("input_files") + total("output_files"),
    totalLiveQueueDuration: queueDuration,
    totalOutputBytesProcessed: total("output_bytes"),
    totalOutputFilesProcessed: total("output_files"),
    totalUploadDuration: total("upload_millis") / 1000,
    totalUsage: total("input_bytes") + total("output_bytes")
  }
}

const errorTotals = (rows: ReadonlyArray<ErrorRow>): ReadonlyArray<AssemblyStatistics.ErrorTotal> => {
  const byError = new Map<string, number>()
  for (const { assemblies, error } of rows) byError.set(error, (byError.get(error) ?? 0) + assemblies)
  return [...byError].map(([error, assemblies]) => ({ error, num_erroneous_assemblies: assemblies }))
}

/** The only region of the emulator. */
export const region = "eu-west-1"

/**
 * Checks the `region` of statistics, which must be "a specific region or `all`" (spec.md, "Errors"), and then reads
 * their `since`, which is a time of the last 91 days (spec.md, "Retrieve Assembly statistics").
 */
export const readAsked = Effect.fnUntraced(function* (
  { region: asked, since }: Pick<AssemblyStatistics.Query, "region" | "since">,
  invalidRegion: (message: string) => Refusal.Refusal,
  invalidTime: (message: string) => Refusal.Refusal
) {
  if (asked !== region && asked !== "all") {
    return yield* invalidRegion(`There is no such region: this service has ${region}.`)
  }
  const now = yield* DateTime.now
  const start = DateTime.make(since)
  if (Option.isNone(start)) return yield* invalidTime("since: Expected a date")
  return DateTime.isLessThan(start.value, DateTime.subtract(now, { days: 91 }))
    ? yield* invalidTime("since: Expected a date of the last 91 days")
    : { now, since: DateTime.toUtc(start.value) }
})

const invalidRegion = (message: string) => Refusal.named("ASSEMBLY_STATS_MISSING_REGION", message)
const invalidTime = (message: string) => Refusal.named("ASSEMBLY_STATS_INVALID_TIME", message)

/**
 * Reports a missing or invalid region first. A form or `params` that cannot be read has the error code of a missing
 * region. All other issues have the error code of an invalid time, because the specification defines no further code
 * for invalid params.
 */
const invalid = (issues: ReadonlyArray<Issue>): Refusal.Refusal => {
  const [first] = issues
  const missing = issues.some(({ path: [key] }) => key === undefined || key === "params" || key === "region")
  return missing
    ? invalidRegion("Set region to a region or all.")
    : invalidTime(`${first?.path.join(".")}: ${first?.message}`)
}

const routes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return yield* Effect.all([
    Route.signed(Operations.Statistics, {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const { now, since } = yield* readAsked(params, invalidRegion, invalidTime)
        const counted = statements(sql, authKey.workspace, params, since)
        const [rows, errorRows] = yield* Effect.all([buckets(counted.buckets), errors(counted.errors)]).pipe(
          sql.withTransaction,
          Statement.stored,
          Turns.take
        )
        return {
          ok: "ASSEMBLY_STATS_FOUND" as const,
          granularity,
          stats: fillIn(rows, since.epochMilliseconds, now.epochMilliseconds).map(toBucket),
          errorStatsGranularity: granularity,
          errorStats: errorRows.map((row) => ({
            data_from_ts: row.bucket,
            error: row.error,
            num_erroneous_assemblies: row.assemblies
          })),
          errorStatsTotals: errorTotals(errorRows),
          ...totals(rows)
        }
      })
    })
  ])
})

/** The route `/assembly_stats`: statistics from the stored Assemblies (spec.md, "Assembly statistics response"). */
export const layer = HttpRouter.addAll(routes)
