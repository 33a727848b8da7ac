/**
 * The secrets of the deployment, which all processes of a database should have in common. One row of the database
 * contains their fingerprints, the newest last. Each process compares its secrets with this row when it starts: the row
 * must contain at least one of them.
 */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { InvalidSecret, type StoreFailed } from "../DurableError.ts"
import * as Database from "./database.ts"
import type { Secrets } from "./secrets.ts"

const unknown = new InvalidSecret({
  description:
    "the database of the jobs belongs to a deployment with other secrets; add the earlier secret to the list, or use another database"
})

const lacking =
  "The secrets of this process lack the newest secret of the deployment: jobs that began with it wait for another runner"

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
    const { deployment, sql } = yield* Database.make
    const own = fingerprints.toReversed()
    if (runs) {
      yield* sql`INSERT INTO ${deployment} (id, secrets) VALUES (1, ${own.join(" ")}) ON CONFLICT (id) DO NOTHING`
    }
    for (;;) {
      const [row] = yield* sql<{ readonly secrets: string }>`SELECT secrets FROM ${deployment} WHERE id = 1`
      if (row === undefined) return
      const stored = row.secrets.split(" ")
      const isKnown = own.some((fingerprint) => stored.includes(fingerprint))
      if (!isKnown && !(isAlone && !(yield* Database.hasBegun))) return yield* unknown
      const all = isKnown ? [...new Set([...stored, ...own])].join(" ") : own.join(" ")
      const change = sql`UPDATE ${deployment} SET secrets = ${all} WHERE id = 1 AND secrets = ${row.secrets} RETURNING id`
      if (runs && all !== row.secrets && !(yield* Database.changesRow(change))) continue
      // This is no error, because a new secret is added runner by runner.
      if (isKnown && !own.includes(stored.at(-1) ?? "")) yield* Effect.logWarning(lacking)
      return
    }
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(Database.failedTo("join")(error))))
