/** The tables of the package. After the first published version, never change a migration: add a new one. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreFailed } from "../DurableError.ts"
import * as Deployment from "./deployment.ts"
import * as StoreError from "./storeError.ts"

const loader = Migrator.fromRecord({
  "0001_durable_jobs": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const table = sql("durable_jobs")
    yield* sql`
      CREATE TABLE ${table} (
        job_key VARCHAR(255) PRIMARY KEY,
        attempt INTEGER NOT NULL,
        state VARCHAR(16) NOT NULL,
        job TEXT NOT NULL,
        sources TEXT NOT NULL,
        size VARCHAR(40) NOT NULL,
        shard INTEGER NOT NULL,
        begins INTEGER NOT NULL,
        secret CHAR(32),
        lookup CHAR(32),
        creations TEXT,
        queued_at BIGINT NOT NULL,
        ended_at BIGINT,
        failure TEXT,
        salt CHAR(32),
        waiting TEXT,
        canceled_at BIGINT
      )`
    yield* sql`CREATE INDEX durable_jobs_queue ON ${table} (state, shard, queued_at)`
    yield* sql`CREATE INDEX durable_jobs_list ON ${table} (state, job_key)`
    yield* sql`CREATE INDEX durable_jobs_lookup ON ${table} (lookup)`
    yield* sql`CREATE INDEX durable_jobs_ended ON ${table} (ended_at)`
    yield* sql`
      CREATE TABLE ${sql(Deployment.tableName)} (
        id INTEGER PRIMARY KEY,
        secrets TEXT NOT NULL,
        expiry BIGINT,
        paused_until BIGINT
      )`
  })
})

/** Runs the missing migrations. Several runners may start at once. */
export const run: Effect.Effect<void, StoreFailed, SqlClient.SqlClient> = Migrator.make({})({
  loader,
  table: "durable_migrations"
}).pipe(Effect.asVoid, Effect.mapError(StoreError.of("migrate")))
