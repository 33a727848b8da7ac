/**
 * The budget of an account, in tables of SQLite or Postgres: the counters of Effect's `RateLimiter`, the ends of pauses,
 * and the places of running Assemblies. A database without durable jobs may have these tables too.
 */
import * as Budget from "@assembly-effect/api/Budget"
import * as BudgetSettings from "@assembly-effect/api/unstable/BudgetSettings"
import * as Pacing from "@assembly-effect/api/unstable/Pacing"
import { Array as Arr, Duration, Effect, Random } from "effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type { SqlError } from "effect/sql"
import * as Database from "./database.ts"
import type { Secrets } from "./secrets.ts"

const failing = <A>(access: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.mapError(Database.attempting("budget")(access), (cause) => new Budget.BudgetStoreFailed({ cause }))

/** Creates the missing tables, and makes the budget. */
export const make = Effect.fnUntraced(function* (secrets: Secrets, options: Budget.Options | undefined) {
  const { at, sql } = yield* Database.make

  yield* Effect.gen(function* () {
    yield* sql`
      CREATE TABLE IF NOT EXISTS assembly_budget (
        name VARCHAR(255) PRIMARY KEY,
        amount DOUBLE PRECISION NOT NULL,
        since DOUBLE PRECISION NOT NULL
      )`
    // The id of an Assembly is a capability: `assembly` is sealed, and `lookup` is a keyed hash.
    yield* sql`
      CREATE TABLE IF NOT EXISTS assembly_budget_places (
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
  }).pipe(Effect.retry({ times: 3 }), Effect.mapError(Database.failedTo("migrate")))

  /**
   * Takes tokens of a bucket. Two processes that change the same bucket at the same time: the second one reads it again, so
   * no transaction is needed. A bucket that does not change is not written.
   */
  const tokenBucket: RateLimiter.RateLimiterStore["Service"]["tokenBucket"] = ({
    allowOverflow,
    key: name,
    limit,
    refillRate,
    tokens
  }) => {
    const pace = { bucket: limit, interval: Duration.toMillis(refillRate) }
    return Effect.gen(function* () {
      for (;;) {
        const [row] = yield* at(
          (time) => sql<Readonly<Record<"now" | "amount" | "since", number | null>>>`
            SELECT ${time} AS now, amount, since FROM (SELECT 1) AS one LEFT JOIN assembly_budget ON name = ${name}`
        )
        const now = Number(row?.now)
        const { amount: before = null, since: begun = null } = row ?? {}
        const known = before === null || begun === null ? undefined : { tokens: before, at: begun }
        const { at: since, tokens: had } = Pacing.refilled(known, pace, now)
        const left = Math.min(limit, had - tokens)
        const isTaken = left >= 0 || allowOverflow
        const answer = [left, Math.max(0, now - since)] as const
        // The time of a bucket is in the future only if somebody has set the clock back.
        if (!isTaken && (known?.at ?? 0) <= now) return answer
        const amount = isTaken ? left : had
        const changed = yield* known === undefined
          ? sql`
              INSERT INTO assembly_budget (name, amount, since) VALUES (${name}, ${amount}, ${since})
              ON CONFLICT (name) DO NOTHING RETURNING name`
          : sql`
              UPDATE assembly_budget SET amount = ${amount}, since = ${since}
              WHERE name = ${name} AND amount = ${known.tokens} AND since = ${known.at} RETURNING name`
        if (changed.length > 0) return answer
      }
    }).pipe(
      failing,
      Effect.mapError(({ cause }) => {
        const reason = new RateLimiter.RateLimitStoreError({ message: "the database of the budget failed", cause })
        return new RateLimiter.RateLimiterError({ reason })
      })
    )
  }

  const unused = () => Effect.die("the budget has only token buckets")

  const release = (account: string, lookups: ReadonlyArray<string>) =>
    sql`DELETE FROM assembly_budget_places WHERE account = ${account} AND ${sql.in("lookup", lookups)}`

  const store = Budget.BudgetStore.of({
    // `amount` is the length of the pause. If more than this is left, somebody has set the clock back.
    pauseLeft: (name) =>
      at(
        (now) => sql<{ readonly left: number }>`
          SELECT since - ${now} AS left FROM assembly_budget WHERE name = ${name} AND since - ${now} <= amount`
      ).pipe(
        Effect.map(([row]) => Math.max(0, row?.left ?? 0)),
        failing
      ),
    pause: (name, millis) =>
      at(
        (now) => sql`
          INSERT INTO assembly_budget (name, amount, since) VALUES (${name}, ${millis}, ${now} + ${millis})
          ON CONFLICT (name) DO UPDATE SET amount = EXCLUDED.amount, since = EXCLUDED.since
          WHERE assembly_budget.since < EXCLUDED.since OR assembly_budget.since - assembly_budget.amount > ${now}`
      ).pipe(failing),
    // Each place has a number, and two processes that take the same number at the same time: one of them takes another
    // number. So there are never more places than numbers, and no transaction is needed.
    hold: ({ account, assemblyId, limit, millis }) =>
      Effect.gen(function* () {
        const lookups = yield* secrets.lookups(assemblyId)
        const prolonged = yield* at(
          (now) => sql`
            UPDATE assembly_budget_places SET held_until = ${now} + ${millis}
            WHERE account = ${account} AND ${sql.in("lookup", lookups)} RETURNING place`
        )
        if (prolonged.length > 0) return true
        const [lookup = ""] = lookups
        const secret = secrets.newest
        const assembly = yield* Effect.orDie(secrets.seal({ key: lookup, secret }, assemblyId))
        for (;;) {
          const rows = yield* sql<{
            readonly place: number
          }>`SELECT place FROM assembly_budget_places WHERE account = ${account}`
          if (rows.length >= limit) return false
          const taken = new Set(rows.map(({ place }) => place))
          const free = Arr.range(1, limit).filter((place) => !taken.has(place))
          const place = free[yield* Random.nextIntBetween(0, free.length)] ?? 1
          const inserted = yield* at(
            (now) => sql`
              INSERT INTO assembly_budget_places (account, place, lookup, secret, assembly, held_until)
              VALUES (${account}, ${place}, ${lookup}, ${secret}, ${assembly}, ${now} + ${millis})
              ON CONFLICT DO NOTHING RETURNING place`
          )
          if (inserted.length > 0) return true
        }
      }).pipe(failing),
    release: ({ account, assemblyId }) =>
      Effect.flatMap(secrets.lookups(assemblyId), (lookups) => release(account, lookups)).pipe(failing),
    overdue: ({ account, millis }) =>
      Effect.gen(function* () {
        // No place is held for longer than `millis`, unless somebody has set the clock back.
        const rows = yield* at(
          (now) => sql<Readonly<Record<"lookup" | "secret" | "assembly", string>>>`
            UPDATE assembly_budget_places SET held_until = ${now} + ${millis}
            WHERE account = ${account} AND (held_until <= ${now} OR held_until > ${now} + ${millis})
            RETURNING lookup, secret, assembly`
        )
        const opened = yield* Effect.forEach(rows, ({ assembly, lookup, secret }) =>
          secrets.open({ key: lookup, secret }, assembly).pipe(
            Effect.map((id) => [id]),
            // Nobody who knows the secret is left, so nobody could ask for this Assembly.
            Effect.catch(() => Effect.as(release(account, [lookup]), []))
          )
        )
        return opened.flat()
      }).pipe(failing)
  })

  const limiter = yield* Effect.provideService(RateLimiter.make, RateLimiter.RateLimiterStore, {
    tokenBucket,
    fixedWindow: unused,
    adaptiveConsume: unused,
    adaptiveFeedback: unused
  })
  return yield* BudgetSettings.make(options).pipe(
    Effect.provideService(RateLimiter.RateLimiter, limiter),
    Effect.provideService(Budget.BudgetStore, store)
  )
})
