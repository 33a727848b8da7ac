/** The counters of Effect's `RateLimiter` in a table of SQLite or Postgres. */
import * as Pacing from "@assembly-effect/api/unstable/Pacing"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as SqlClient from "effect/sql/SqlClient"
import * as BudgetTables from "./budgetTables.ts"
import { attempting, timeOf } from "./store.ts"

/** A counter: an amount, and a time in milliseconds since 1970. */
interface Counter {
  readonly amount: number
  readonly since: number
}

const failed = (cause: unknown) =>
  new RateLimiter.RateLimiterError({
    reason: new RateLimiter.RateLimitStoreError({ message: "the database of the budget failed", cause })
  })

/**
 * Makes the store. Two processes that change the same counter at the same time: the second one reads it again, so no
 * transaction is needed. A counter that does not change is not written. Adaptive limits are not stored, because they end
 * after an hour: `Budget` keeps the pauses of the service itself.
 */
export const make = Effect.gen(function* () {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const table = sql(BudgetTables.counters)
  const time = timeOf(sql)

  const change = <A>(
    name: string,
    step: (known: Counter | undefined, now: number) => { readonly next: Counter | undefined; readonly answer: A }
  ): Effect.Effect<A, RateLimiter.RateLimiterError> =>
    Effect.gen(function* () {
      for (;;) {
        const [row] = yield* sql<{ readonly now: unknown } & (Counter | Record<keyof Counter, null>)>`
          SELECT ${yield* time} AS now, amount, since
          FROM (SELECT 1) AS one LEFT JOIN ${table} ON name = ${name}`
        const known = row === undefined || row.since === null ? undefined : row
        const { answer, next } = step(known, Number(row?.now))
        if (next === undefined) return answer
        const { amount, since } = next
        const changed = yield* known === undefined
          ? sql`
              INSERT INTO ${table} (name, amount, since) VALUES (${name}, ${amount}, ${since})
              ON CONFLICT (name) DO NOTHING RETURNING name`
          : sql`
              UPDATE ${table} SET amount = ${amount}, since = ${since}
              WHERE name = ${name} AND amount = ${known.amount} AND since = ${known.since} RETURNING name`
        if (changed.length > 0) return answer
      }
    }).pipe(attempting("budget"), Effect.mapError(failed))

  return RateLimiter.RateLimiterStore.of({
    tokenBucket: ({ allowOverflow, key, limit, refillRate, tokens }) =>
      change(key, (known, now) => {
        const pace = { bucket: limit, interval: Duration.toMillis(refillRate) }
        const before = known === undefined ? undefined : { tokens: known.amount, at: known.since }
        const bucket = Pacing.refilled(before, pace, now)
        const left = Math.min(limit, bucket.tokens - tokens)
        // Somebody has set the clock back.
        const corrected = (before?.at ?? 0) > now ? { amount: bucket.tokens, since: bucket.at } : undefined
        return {
          next: left >= 0 || allowOverflow ? { amount: left, since: bucket.at } : corrected,
          answer: [left, Math.max(0, now - bucket.at)] as const
        }
      }),
    fixedWindow: ({ key, limit, refillRate, tokens }) =>
      change(key, (known, now) => {
        const { amount, since } = known === undefined || known.since <= now ? { amount: 0, since: now } : known
        const count = amount + tokens
        if (limit !== undefined && count > limit) return { next: undefined, answer: [count, since - now] as const }
        const end = since + Duration.toMillis(refillRate) * tokens
        return { next: { amount: count, since: end }, answer: [count, end - now] as const }
      }),
    adaptiveConsume: () => Effect.succeed({ delay: Duration.zero, epoch: 0, phase: "inactive" }),
    adaptiveFeedback: () => Effect.void
  })
})
