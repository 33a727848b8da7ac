/** The database of the jobs: its tables, its errors, and what statements have in common. */
import * as Redaction from "@assembly-effect/auth/Redaction"
import { Cause, Clock, Effect, Schedule } from "effect"
import { Migrator, SqlClient, type SqlError, type Statement } from "effect/sql"
import { StoreFailed } from "../DurableError.ts"

/** An error and its causes, the outermost error first. The list ends before an error that it already contains. */
const chain = (error: unknown): ReadonlyArray<Error> => {
  const found = new Set<Error>()
  for (let at = error; at instanceof Error && !found.has(at); at = at.cause) found.add(at)
  return [...found]
}

/**
 * Converts an error of the database, which says what happened and to which file: with SQLite, one of the causes names
 * the file. The messages of the error and of its causes are joined, without secrets.
 */
export const failedTo =
  (operation: string) =>
  (error: unknown): StoreFailed => {
    const errors = chain(error)
    const messages = new Set(errors.map(({ message, name }) => (message === "" ? name : message)))
    const text = [...messages].join(": ")
    const description = Redaction.text(text === "" ? "a value that is not an Error" : text, { max: 400 })
    const [path] = errors.flatMap((one) => ("path" in one && typeof one.path === "string" ? [one.path] : []))
    return new StoreFailed({ operation, description, ...(path === undefined ? {} : { path }) })
  }

/** The error of a row that cannot be decoded. `invalid` names the invalid columns, but not their values. */
export const damaged = (key: string, invalid: ReadonlyArray<string | number | undefined>): StoreFailed =>
  new StoreFailed({ operation: "decode", description: `invalid ${[...new Set(invalid)].join(", ")}`, key })

/** Whether an error says that the row of a job is damaged. The same access never succeeds later. */
export const isDamaged = (error: unknown): boolean => error instanceof StoreFailed && error.key !== undefined

/**
 * Fails with `StoreFailed`, which names the operation, if the database fails. A client interrupts the statements of a
 * connection that it closes, although nobody has interrupted the caller.
 */
export const attempting =
  (operation: string) =>
  <A, R>(access: Effect.Effect<A, SqlError.SqlError | StoreFailed, R>): Effect.Effect<A, StoreFailed, R> =>
    Effect.catchCause(access, (cause) => {
      const error = Cause.squash(cause)
      if (Cause.hasDies(cause)) return Effect.die(error)
      return Effect.fail(error instanceof StoreFailed ? error : failedTo(operation)(error))
    })

/** The pause between two lines about outages, in nanoseconds. */
const minute = 60_000_000_000n

/** The pauses between tries: 100 milliseconds, then twice as long, up to 5 seconds. */
const pauses = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

const isOutage = (error: unknown): error is StoreFailed => error instanceof StoreFailed && !isDamaged(error)

/**
 * - `retrying`: retries until the database answers, because a runner cannot do anything without its database. A damaged
 *   row is not read again.
 * - `reportCause`: reports that one run of a repeated loop failed. If the failure does not come from the database, the
 *   log line contains the whole cause.
 */
export type Outage = ReturnType<typeof outage>

export const outage = () => {
  let next: bigint | undefined
  const report = ({ message }: StoreFailed): Effect.Effect<void> =>
    Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
      if (next !== undefined && now < next) return Effect.void
      next = now + minute
      return Effect.logWarning(`Durable jobs wait for their database: ${message}`)
    })

  return {
    retrying: <A, E, R>(access: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      access.pipe(
        Effect.tapError((error) => (isOutage(error) ? report(error) : Effect.void)),
        Effect.retry({ while: isOutage, schedule: pauses })
      ),
    reportCause: (operation: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
      const error = Cause.squash(cause)
      return error instanceof StoreFailed
        ? report(error)
        : Effect.logWarning(`Durable jobs: ${operation} failed`, cause)
    }
  }
}

/** Whether a statement has changed a row. */
export const changesRow = Effect.map(({ length }: ReadonlyArray<unknown>) => length > 0)

/**
 * - `at`: runs an access with the time of the database, in milliseconds since 1970. The clock of the process is that of
 *   an embedded database.
 * - `waits`: the jobs that wait for their pack.
 * - `locked`, `free`: lock the rows that a SELECT returns; `free` returns only those that nobody has locked.
 */
export const make = Effect.map(SqlClient.SqlClient, (client) => {
  const sql = client.withoutTransforms()
  const isPostgres = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const time = isPostgres
    ? Effect.succeed(sql`(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT`)
    : Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`)
  return {
    sql,
    at: <A, E, R>(access: (now: Statement.Fragment) => Effect.Effect<A, E, R>) => Effect.flatMap(time, access),
    waits: sql.literal("pack IS NOT NULL AND holder IS NULL AND due_at IS NULL AND state = 'Queued'"),
    locked: sql.literal(isPostgres ? "FOR UPDATE" : ""),
    free: sql.literal(isPostgres ? "FOR UPDATE SKIP LOCKED" : "")
  }
})

/** After the first published version, never change a migration: add a new one. */
const loader = Migrator.fromRecord({
  "0001_durable_jobs": Effect.gen(function* () {
    const { sql, waits } = yield* make
    // `runner` is the runner that works on the job now. `due_at` is when the next work on the job is due, in
    // milliseconds since 1970, and NULL if the job has ended, or depends on a pack. A pack is a row with the attempt 0.
    // `pack` has the limits and the digest of the params of a job that can share an Assembly, and `holder` is the key of
    // the pack that the job is in.
    yield* sql`
      CREATE TABLE durable_jobs (
        job_key VARCHAR(255) PRIMARY KEY,
        attempt INTEGER NOT NULL,
        state VARCHAR(16) NOT NULL,
        job TEXT NOT NULL,
        sources TEXT NOT NULL,
        size VARCHAR(40) NOT NULL,
        runner CHAR(32),
        due_at BIGINT,
        waited BIGINT NOT NULL,
        secret CHAR(32),
        assembly TEXT,
        lookup CHAR(32),
        queued_at BIGINT NOT NULL,
        ended_at BIGINT,
        failure TEXT,
        waiting TEXT,
        pack TEXT,
        holder VARCHAR(64)
      )`
    yield* sql`CREATE INDEX durable_jobs_waits_queu ON durable_jobs (queued_at, job_key) WHERE ${waits}`
    yield* sql`CREATE INDEX durable_jobs_waits_pack ON durable_jobs (pack, queued_at, job_key) WHERE ${waits}`
    yield* sql`CREATE INDEX durable_jobs_holder ON durable_jobs (holder) WHERE holder IS NOT NULL`
    yield* sql`CREATE INDEX durable_jobs_due ON durable_jobs (due_at, job_key) WHERE runner IS NULL`
    yield* sql`CREATE INDEX durable_jobs_runner ON durable_jobs (runner) WHERE runner IS NOT NULL`
    yield* sql`CREATE INDEX durable_jobs_list ON durable_jobs (state, job_key)`
    yield* sql`CREATE INDEX durable_jobs_lookup ON durable_jobs (lookup)`
    yield* sql`CREATE INDEX durable_jobs_ended ON durable_jobs (ended_at)`
    yield* sql`
      CREATE TABLE durable_uploads (
        job_key VARCHAR(255) NOT NULL,
        attempt INTEGER NOT NULL,
        entry_key VARCHAR(64) NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (job_key, attempt, entry_key)
      )`
    yield* sql`CREATE TABLE durable_runners (id CHAR(32) PRIMARY KEY, held_until BIGINT NOT NULL)`
    yield* sql`CREATE TABLE durable_deployment (id INTEGER PRIMARY KEY, secret CHAR(32) NOT NULL)`
  })
})

/** Runs the missing migrations. Several runners may start at once. */
export const migrate: Effect.Effect<void, StoreFailed, SqlClient.SqlClient> = Migrator.make({})({
  loader,
  table: "durable_migrations"
}).pipe(Effect.asVoid, Effect.mapError(failedTo("migrate")))

/** Whether a job has begun. */
export const hasBegun = Effect.flatMap(make, ({ sql }) =>
  changesRow(sql`SELECT 1 FROM durable_jobs WHERE secret IS NOT NULL LIMIT 1`).pipe(attempting("open"))
)
