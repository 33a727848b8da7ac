/**
 * The secrets of the deployment, which all processes of a database should have in common. One row of the database
 * contains their fingerprints, the newest last. Each process compares its secrets with this row when it starts: the row
 * must contain at least one of them.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { InvalidSecret, type StoreFailed } from "../DurableError.ts"
import * as Migrations from "./migrations.ts"
import type { Secrets } from "./secrets.ts"
import * as Store from "./store.ts"
import * as StoreError from "./storeError.ts"

const unknown = new InvalidSecret({
  description:
    "the database of the jobs belongs to a deployment with other secrets; add the earlier secret to the list, or use another database"
})

/**
 * Joins the deployment of the database. If the database has none, a runner creates the deployment. If the row contains
 * the fingerprint of none of the secrets of this process, `join` fails.
 *
 * One common secret is enough, because a new secret is added runner by runner. Another runner may change the row at the
 * same time, so the UPDATE changes the row only if it still contains the fingerprints that were read.
 *
 * - `isAlone`: whether no other process can use the database. If so, and if no job has begun, the secrets of this
 *   process replace the stored ones.
 * - `runs`: whether this process runs jobs. A process that runs no jobs does not change the row.
 */
export const join = (
  { fingerprints }: Secrets,
  { isAlone, runs }: { readonly isAlone: boolean; readonly runs: boolean }
): Effect.Effect<void, InvalidSecret | StoreFailed, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const table = sql(Migrations.deployment)
    const own = fingerprints.toReversed()
    if (runs) {
      yield* sql`INSERT INTO ${table} (id, secrets) VALUES (1, ${own.join(" ")}) ON CONFLICT (id) DO NOTHING`
    }
    for (;;) {
      const [row] = yield* sql<{ readonly secrets: string }>`SELECT secrets FROM ${table} WHERE id = 1`
      if (row === undefined) return
      const stored = row.secrets.split(" ")
      const isKnown = own.some((fingerprint) => stored.includes(fingerprint))
      if (!isKnown && !(isAlone && !(yield* Store.hasBegun))) return yield* unknown
      const all = isKnown ? [...new Set([...stored, ...own])].join(" ") : own.join(" ")
      const isJoined =
        !runs ||
        all === row.secrets ||
        (yield* sql`UPDATE ${table} SET secrets = ${all} WHERE id = 1 AND secrets = ${row.secrets} RETURNING id`)
          .length > 0
      if (!isJoined) continue
      if (isKnown && !own.includes(stored.at(-1) ?? "")) {
        // This is no error, because a new secret is added runner by runner.
        yield* Effect.logWarning(
          "The secrets of this process lack the newest secret of the deployment: jobs that began with it wait for another runner"
        )
      }
      return
    }
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(StoreError.of("join")(error))))
