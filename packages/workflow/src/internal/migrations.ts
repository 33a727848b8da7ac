/** The tables of the package. Never change an existing migration: add a new one. */
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
        failure TEXT
      )`
    yield* sql`CREATE INDEX durable_jobs_queue ON ${table} (state, shard, queued_at)`
    yield* sql`CREATE INDEX durable_jobs_list ON ${table} (state, job_key)`
    yield* sql`CREATE INDEX durable_jobs_lookup ON ${table} (lookup)`
    yield* sql`CREATE INDEX durable_jobs_ended ON ${table} (ended_at)`
  }),
  "0002_waiting": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const table = sql("durable_jobs")
    yield* sql`ALTER TABLE ${table} ADD COLUMN salt CHAR(32)`
    yield* sql`ALTER TABLE ${table} ADD COLUMN waiting TEXT`
    yield* sql`ALTER TABLE ${table} ADD COLUMN canceled_at BIGINT`
  }),
  "0003_deployment": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const deployment = sql(Deployment.tableName)
    yield* sql`CREATE TABLE ${deployment} (id INTEGER PRIMARY KEY, secrets TEXT NOT NULL, expiry BIGINT)`
    // The first row contains the fingerprints of the secrets that jobs of earlier versions began with.
    const begun = yield* sql<{ readonly secret: string; readonly at: number | string }>`
      SELECT secret, MIN(queued_at) AS at FROM ${sql("durable_jobs")}
      WHERE secret IS NOT NULL GROUP BY secret ORDER BY MIN(queued_at)`
    if (begun.length === 0) return
    const known = begun.map(({ at, secret }) => ({ fingerprint: secret, at: Number(at) }))
    yield* sql`INSERT INTO ${deployment} (id, secrets) VALUES (1, ${Deployment.encodeKnown(known)})`
  })
})

/** Runs the missing migrations. Several runners may start at once. */
export const run: Effect.Effect<void, StoreFailed, SqlClient.SqlClient> = Migrator.make({})({
  loader,
  table: "durable_migrations"
}).pipe(Effect.asVoid, Effect.mapError(StoreError.of("migrate")))
