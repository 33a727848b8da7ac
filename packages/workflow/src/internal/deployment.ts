/**
 * The options that all runners of a database should have in common: the secrets of the deployment and `expiry`. One row
 * of the database contains the fingerprints of the secrets and the `expiry`. Each process compares its secrets with
 * this row when it starts: the row must contain at least one of them. A runner of Postgres also compares its `expiry`,
 * and logs a warning if it differs.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as SqlClient from "effect/sql/SqlClient"
import { InvalidSecret, type StoreFailed } from "../DurableError.ts"
import * as StoreError from "./storeError.ts"

/** The name of the table, which has a single row. */
export const tableName = "durable_deployment"

/**
 * The fingerprints of the secrets that runners have had, the newest last. `at`: when a runner added the secret, in
 * milliseconds since 1970.
 */
const Known = Schema.fromJsonString(Schema.Array(Schema.Struct({ fingerprint: Schema.String, at: Schema.Int })))
type Known = typeof Known.Type
const decodeKnown = SchemaParser.decodeUnknownSync(Known)
const encodeKnown = SchemaParser.encodeSync(Known)

interface Columns {
  readonly secrets: string
  readonly expiry: number | string | null
}

/**
 * - `fingerprints`: the fingerprints of the secrets of this process. The first fingerprint is that of the secret for
 *   new attempts.
 * - `expiry`: the `expiry` of this runner. `expiry` is undefined for a client, for SQLite, and for a process that joins
 *   again.
 * - `isAlone`: whether no other process can use the database. If so, and if no job in the table `durable_jobs` has
 *   begun, a process with other secrets is accepted, and the fingerprints of its secrets replace the stored
 *   fingerprints.
 * - `runs`: whether this process runs jobs. A process that runs no jobs does not change the row.
 * - `isRepeated`: whether this process has joined before. If so, the warning about a missing secret is not logged
 *   again.
 */
interface Options {
  readonly fingerprints: ReadonlyArray<string>
  readonly expiry?: Duration.Duration | undefined
  readonly isAlone?: boolean | undefined
  readonly runs: boolean
  readonly isRepeated?: boolean | undefined
}

const unknown = new InvalidSecret({
  description:
    "the database of the jobs belongs to a deployment with other secrets; add the earlier secret to the list, or use another database"
})

/**
 * Logs a warning if this process lacks the newest secret of the deployment. A missing secret is not an error, because a
 * new secret is added runner by runner.
 */
const warnOfMissing = (known: Known, fingerprints: ReadonlyArray<string>): Effect.Effect<void> => {
  const newest = known.at(-1)
  return newest === undefined || fingerprints.includes(newest.fingerprint)
    ? Effect.void
    : Effect.logWarning(
        `The secrets of this process lack the secret that a runner added at ${DateTime.formatIso(DateTime.makeUnsafe(newest.at))}: jobs that began with it wait for another runner`
      )
}

const warnOfExpiry = (before: number | undefined, expiry: Duration.Duration | undefined): Effect.Effect<void> =>
  before === undefined || expiry === undefined || before === Duration.toMillis(expiry)
    ? Effect.void
    : Effect.logWarning(
        `The expiry of this runner is ${Duration.format(expiry)}, and that of the runner that started before is ${Duration.format(Duration.millis(before))}: all runners must have the same expiry`
      )

/**
 * Joins the deployment of the database. If the database has none, a runner creates the deployment. If the row contains
 * the fingerprint of none of the secrets of this process, `join` fails, unless `isAlone` permits to replace the row.
 *
 * One common secret is enough, because a new secret is added runner by runner. Another runner may change the row at the
 * same time, so the UPDATE changes the row only if it still contains the fingerprints that were read.
 */
export const join = ({
  expiry,
  fingerprints,
  isAlone = false,
  isRepeated = false,
  runs
}: Options): Effect.Effect<void, InvalidSecret | StoreFailed, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const table = sql(tableName)
    const millis = expiry === undefined ? null : Math.round(Duration.toMillis(expiry))
    const now = yield* Clock.currentTimeMillis
    const added = (known: Known): Known => [
      ...known,
      ...fingerprints
        .filter((fingerprint) => known.every((one) => one.fingerprint !== fingerprint))
        .map((fingerprint) => ({ fingerprint, at: now }))
        .toReversed()
    ]
    const mayReplace = Effect.gen(function* () {
      return isAlone && (yield* sql`SELECT 1 FROM durable_jobs WHERE secret IS NOT NULL LIMIT 1`).length === 0
    })

    for (;;) {
      const [row] = yield* sql<Columns>`SELECT secrets, expiry FROM ${table} WHERE id = 1`
      if (row === undefined) {
        if (!runs) return
        const founded = yield* sql`
          INSERT INTO ${table} (id, secrets, expiry) VALUES (1, ${encodeKnown(added([]))}, ${millis})
          ON CONFLICT (id) DO NOTHING RETURNING id`
        if (founded.length > 0) return
        continue
      }
      const known = decodeKnown(row.secrets)
      const isKnown = known.some(({ fingerprint }) => fingerprints.includes(fingerprint))
      if (!isKnown && !(yield* mayReplace)) return yield* unknown
      const secrets = encodeKnown(added(isKnown ? known : []))
      const before = row.expiry === null ? undefined : Number(row.expiry)
      const isSame = secrets === row.secrets && (millis === null || millis === before)
      const isJoined =
        isSame ||
        !runs ||
        (yield* sql`
          UPDATE ${table} SET secrets = ${secrets}, expiry = COALESCE(${millis}, expiry)
          WHERE id = 1 AND secrets = ${row.secrets} RETURNING id`).length > 0
      if (!isJoined) continue
      if (isKnown && !isRepeated) yield* warnOfMissing(known, fingerprints)
      yield* warnOfExpiry(before, expiry)
      return
    }
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(StoreError.of("join")(error))))
