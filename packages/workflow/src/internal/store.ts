/**
 * What callers read and change in the table of jobs. The statements of runners are in `claims.ts`.
 *
 * Each UPDATE names the states in which it is allowed. So if a change moves an attempt to another state, only one of
 * two processes can make this change.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import type { StoreFailed } from "../DurableError.ts"
import type { Filter } from "../DurableJob.ts"
import * as Migrations from "./migrations.ts"
import * as Row from "./row.ts"
import * as StoreError from "./storeError.ts"

/**
 * Fails with `StoreFailed`, which names the operation, if the database fails. A client interrupts the statements of a
 * connection that it closes, although nobody has interrupted the caller.
 */
export const attempting =
  (operation: string) =>
  <A, R>(access: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, StoreFailed, R> =>
    Effect.catchCause(access, (cause) => {
      const error = Cause.squash(cause)
      return Cause.hasDies(cause) ? Effect.die(error) : Effect.fail(StoreError.of(operation)(error))
    })

/** Whether the embedded database has jobs that have begun. This query may run before the tables exist. */
export const hasBegun = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ${Migrations.jobs}`
  if (tables.length === 0) return false
  return (yield* sql`SELECT 1 FROM ${sql(Migrations.jobs)} WHERE secret IS NOT NULL LIMIT 1`).length > 0
}).pipe(attempting("open"))

/** The time of the database in milliseconds since 1970. The clock of the process is that of an embedded database. */
export const timeOf = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => Effect.succeed(sql`(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT`),
    orElse: () => Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`)
  })

export const make = Effect.gen(function* () {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const jobs = sql(Migrations.jobs)
  const uploads = sql(Migrations.uploads)

  const within = (column: string, { from = 0, until = Number.MAX_SAFE_INTEGER }: NonNullable<Filter["ended"]>) =>
    sql`${sql(column)} >= ${from} AND ${sql(column)} < ${until}`

  /** The conditions of a filter. `LIKE` has wildcards, and in SQLite it ignores case. */
  const selected = ({ after = "", ended, prefix = "", queued, state }: Filter) => [
    sql`attempt > 0 AND job_key > ${after}`,
    ...(prefix === "" ? [] : [sql`substr(job_key, 1, ${Array.from(prefix).length}) = ${prefix}`]),
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...(queued === undefined ? [] : [within("queued_at", queued)]),
    ...(ended === undefined ? [] : [within("ended_at", ended)])
  ]

  return {
    /** The row of a key. */
    find: (key: string) =>
      sql<Row.Raw>`SELECT * FROM ${jobs} WHERE job_key = ${key}`.pipe(attempting("find"), Effect.flatMap(Row.first)),

    /** Queues the jobs whose keys are not in the table, and returns the rows of these jobs. */
    insert: (rows: Arr.NonEmptyReadonlyArray<Row.NewRow>) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const values = Arr.map(rows, ({ key, pack, ...row }) => ({
          ...Row.queued(row, now),
          job_key: key,
          attempt: 1,
          state: "Queued",
          due_at: pack === undefined ? now : null,
          pack: pack ?? null
        }))
        return yield* sql<Row.Raw>`
        INSERT INTO ${jobs} ${sql.insert(values)} ON CONFLICT (job_key) DO NOTHING RETURNING *`
      }).pipe(attempting("insert"), Effect.flatMap(Effect.forEach((raw) => Effect.fromResult(Row.fromRaw(raw))))),

    /**
     * Records that the job shall be canceled. A queued job is canceled at once. Returns None if the job is unknown, has
     * ended, or is already being canceled. A job in a pack is canceled when its pack has ended.
     */
    cancel: (key: string) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        return yield* sql<Row.Raw>`
        UPDATE ${jobs}
        SET state = CASE state WHEN 'Queued' THEN 'Canceled' ELSE 'Canceling' END,
          ended_at = CASE state WHEN 'Queued' THEN ${now} ELSE NULL END,
          due_at = CASE WHEN state = 'Queued' OR holder IS NOT NULL THEN NULL ELSE 0 END, waited = 0, waiting = NULL
        WHERE job_key = ${key} AND state IN ('Queued', 'Uploading', 'Processing')
        RETURNING *`
      }).pipe(attempting("cancel"), Effect.flatMap(Row.first)),

    /**
     * Queues the next attempt of a job, and removes the entries of the uploads of the last attempt. Returns None if the
     * current attempt is not `before`, or has neither failed nor been canceled.
     */
    retry: (before: number, { key, ...row }: Row.NewRow) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* sql<Row.Raw>`
        UPDATE ${jobs}
        SET attempt = attempt + 1, state = 'Queued', due_at = ${now}, ${sql.update(Row.queued(row, now))},
          secret = NULL, assembly = NULL, lookup = NULL, ended_at = NULL, failure = NULL, waiting = NULL,
          pack = NULL, holder = NULL
        WHERE job_key = ${key} AND attempt = ${before} AND state IN ('Failed', 'Canceled')
        RETURNING *`
        // Entries that stay because this process ends here are removed by the next attempt or with the job.
        if (rows.length > 0) yield* sql`DELETE FROM ${uploads} WHERE job_key = ${key} AND attempt <= ${before}`
        return rows
      }).pipe(attempting("retry"), Effect.flatMap(Row.first)),

    /** The rows of these keys, or the error of a damaged row. */
    findAll: (keys: ReadonlyArray<string>) =>
      keys.length === 0
        ? Effect.succeed([])
        : sql<Row.Raw>`SELECT * FROM ${jobs} WHERE ${sql.in("job_key", keys)}`.pipe(
            Effect.map(Row.fromAll),
            attempting("read")
          ),

    /** A page of rows after the cursor. `next` is the key after which the next page begins. */
    page: (filter: Filter, limit: number) =>
      sql<Row.Raw>`SELECT * FROM ${jobs} WHERE ${sql.and(selected(filter))} ORDER BY job_key LIMIT ${limit}`.pipe(
        Effect.map((rows) => ({
          rows: rows.map(Row.fromRaw),
          next: rows.length < limit ? undefined : rows.at(-1)?.job_key
        })),
        attempting("list")
      ),

    /** How many jobs are in each state, and the oldest of those that have not ended. */
    counts: sql<Row.RawCount>`
      SELECT state, count(*) AS jobs,
        (SELECT min(queued_at) FROM ${jobs} AS open WHERE open.attempt > 0 AND open.ended_at IS NULL AND open.state = ${jobs}.state) AS oldest
      FROM ${jobs} WHERE attempt > 0 GROUP BY state`.pipe(Effect.map(Row.toCounts), attempting("count")),

    /**
     * Makes the next look at an Assembly due now, and returns whether a job waits for this Assembly. A look that has begun
     * is repeated, because `claims.release` keeps the time 0.
     */
    notified: (lookups: ReadonlyArray<string>) =>
      sql`
      UPDATE ${jobs} SET due_at = 0, waited = 1
      WHERE ${sql.in("lookup", lookups)} AND state = 'Processing' RETURNING job_key`.pipe(
        Effect.map(({ length }) => length > 0),
        attempting("notify")
      ),

    /** Removes jobs that ended before a time, with everything that is stored of them. Returns how many. */
    removeEnded: (before: { readonly failures: number; readonly successes: number }, limit: number) =>
      Effect.gen(function* () {
        const removed = yield* sql<Row.Raw>`
          DELETE FROM ${jobs} WHERE job_key IN (
            SELECT job_key FROM ${jobs} WHERE due_at IS NULL AND (
              (state = 'Failed' AND ended_at BETWEEN 0 AND ${before.failures}) OR
              (state <> 'Failed' AND ended_at BETWEEN 0 AND ${before.successes})) LIMIT ${limit}
          ) RETURNING job_key`
        const keys = removed.map(({ job_key }) => job_key)
        if (keys.length > 0) yield* sql`DELETE FROM ${uploads} WHERE ${sql.in("job_key", keys)}`
        return keys.length
      }).pipe(sql.withTransaction, attempting("remove"))
  }
})

export type Store = Effect.Success<typeof make>
