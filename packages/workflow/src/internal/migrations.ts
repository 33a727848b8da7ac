/** The tables of the package. After the first published version, never change a migration: add a new one. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreFailed } from "../DurableError.ts"
import * as StoreError from "./storeError.ts"

/** The names of the tables: the jobs, the entries of their uploads, the runners, and the deployment (a single row). */
export const jobs = "durable_jobs"
export const uploads = "durable_uploads"
export const runners = "durable_runners"
export const deployment = "durable_deployment"

/** The jobs that wait for their pack. */
export const waits = "pack IS NOT NULL AND holder IS NULL AND due_at IS NULL AND state = 'Queued'"

const loader = Migrator.fromRecord({
  "0001_durable_jobs": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // `runner` is the runner that works on the job now. `due_at` is when the next work on the job is due, in
    // milliseconds since 1970, and NULL if the job has ended, or depends on a pack. A pack is a row with the attempt 0.
    // `pack` has the limits and the digest of the params of a job that can share an Assembly, and `holder` is the key of
    // the pack that the job is in.
    yield* sql`
      CREATE TABLE ${sql(jobs)} (
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
    for (const columns of ["queued_at, job_key", "pack, queued_at, job_key"]) {
      const name = sql(`durable_jobs_waits_${columns.slice(0, 4)}`)
      yield* sql`CREATE INDEX ${name} ON ${sql(jobs)} (${sql.literal(columns)}) WHERE ${sql.literal(waits)}`
    }
    yield* sql`CREATE INDEX durable_jobs_holder ON ${sql(jobs)} (holder) WHERE holder IS NOT NULL`
    yield* sql`CREATE INDEX durable_jobs_due ON ${sql(jobs)} (due_at, job_key) WHERE runner IS NULL`
    yield* sql`CREATE INDEX durable_jobs_runner ON ${sql(jobs)} (runner) WHERE runner IS NOT NULL`
    yield* sql`CREATE INDEX durable_jobs_list ON ${sql(jobs)} (state, job_key)`
    yield* sql`CREATE INDEX durable_jobs_lookup ON ${sql(jobs)} (lookup)`
    yield* sql`CREATE INDEX durable_jobs_ended ON ${sql(jobs)} (ended_at)`
    yield* sql`
      CREATE TABLE ${sql(uploads)} (
        job_key VARCHAR(255) NOT NULL,
        attempt INTEGER NOT NULL,
        entry_key VARCHAR(64) NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (job_key, attempt, entry_key)
      )`
    yield* sql`CREATE TABLE ${sql(runners)} (id CHAR(32) PRIMARY KEY, held_until BIGINT NOT NULL)`
    yield* sql`
      CREATE TABLE ${sql(deployment)} (
        id INTEGER PRIMARY KEY,
        secrets TEXT NOT NULL
      )`
  })
})

/** Runs the missing migrations. Several runners may start at once. */
export const run: Effect.Effect<void, StoreFailed, SqlClient.SqlClient> = Migrator.make({})({
  loader,
  table: "durable_migrations"
}).pipe(Effect.asVoid, Effect.mapError(StoreError.of("migrate")))
