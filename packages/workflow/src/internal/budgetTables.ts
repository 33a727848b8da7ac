/** The tables of a budget. A database without durable jobs may have them too. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

/** The counters of rates and the ends of pauses, and the places of running Assemblies. */
export const counters = "assembly_budget"
export const places = "assembly_budget_places"

export const create = Effect.gen(function* () {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  yield* sql`
    CREATE TABLE IF NOT EXISTS ${sql(counters)} (
      name VARCHAR(255) PRIMARY KEY,
      amount DOUBLE PRECISION NOT NULL,
      since DOUBLE PRECISION NOT NULL
    )`
  // The id of an Assembly is a capability: `assembly` is sealed, and `lookup` is a keyed hash.
  yield* sql`
    CREATE TABLE IF NOT EXISTS ${sql(places)} (
      account VARCHAR(255) NOT NULL,
      place INTEGER NOT NULL,
      lookup CHAR(32) NOT NULL,
      secret CHAR(32) NOT NULL,
      assembly TEXT NOT NULL,
      held_until BIGINT NOT NULL,
      PRIMARY KEY (account, place),
      UNIQUE (account, lookup)
    )`
  // Of several processes of Postgres that create the same table at the same time, one succeeds.
}).pipe(Effect.retry({ times: 3 }))
