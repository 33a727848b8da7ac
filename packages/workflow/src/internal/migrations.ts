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

const loader = Migrator.fromRecord({
  "0001_durable_jobs": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // `runner` is the runner that works on the job now. `due_at` is when the next work on the job is due, in
    // milliseconds since 1970, and NULL if the job has ended.
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
        waiting TEXT
      )`
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
