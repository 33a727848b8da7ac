/** The pauses and the running Assemblies of an account, in tables of SQLite or Postgres. */
import * as Budget from "@assembly-effect/api/Budget"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as BudgetTables from "./budgetTables.ts"
import type { Secrets } from "./secrets.ts"
import { attempting, timeOf } from "./store.ts"

const failing = <A>(access: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.mapError(attempting("budget")(access), (cause) => new Budget.BudgetStoreFailed({ cause }))

/**
 * Makes the store. Each place has a number, and two processes that take the same number at the same time: one of them
 * takes another number. So there are never more places than numbers, and no transaction is needed.
 */
export const make = Effect.fnUntraced(function* (
  secrets: Secrets
): Effect.fn.Return<Budget.BudgetStore["Service"], never, SqlClient.SqlClient> {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const counters = sql(BudgetTables.counters)
  const places = sql(BudgetTables.places)
  const time = timeOf(sql)

  const release = (account: string, lookups: ReadonlyArray<string>) =>
    sql`DELETE FROM ${places} WHERE account = ${account} AND ${sql.in("lookup", lookups)}`

  /** Takes a place that nobody has. Returns false if there is none. */
  const take = Effect.fnUntraced(function* (account: string, assemblyId: string, limit: number, millis: number) {
    const secret = secrets.newest
    const [lookup = ""] = yield* secrets.lookups(assemblyId)
    const assembly = yield* Effect.orDie(secrets.seal({ key: lookup, secret }, assemblyId))
    for (;;) {
      const rows = yield* sql<{ readonly place: number }>`SELECT place FROM ${places} WHERE account = ${account}`
      if (rows.length >= limit) return false
      const taken = new Set(rows.map(({ place }) => place))
      const free = Arr.range(1, limit).filter((place) => !taken.has(place))
      const place = free[yield* Random.nextIntBetween(0, free.length)] ?? 1
      const inserted = yield* sql`
        INSERT INTO ${places} (account, place, lookup, secret, assembly, held_until)
        VALUES (${account}, ${place}, ${lookup}, ${secret}, ${assembly}, ${yield* time} + ${millis})
        ON CONFLICT DO NOTHING RETURNING place`
      if (inserted.length > 0) return true
    }
  })

  return Budget.BudgetStore.of({
    // `amount` is the length of the pause. If more than this is left, somebody has set the clock back.
    pauseLeft: (name) =>
      Effect.flatMap(
        time,
        (now) => sql<{ readonly left: number }>`
          SELECT since - ${now} AS left FROM ${counters} WHERE name = ${name} AND since - ${now} <= amount`
      ).pipe(
        Effect.map(([row]) => Math.max(0, row?.left ?? 0)),
        failing
      ),
    pause: (name, millis) =>
      Effect.flatMap(
        time,
        (now) => sql`
          INSERT INTO ${counters} (name, amount, since) VALUES (${name}, ${millis}, ${now} + ${millis})
          ON CONFLICT (name) DO UPDATE SET amount = EXCLUDED.amount, since = EXCLUDED.since
          WHERE ${counters}.since < EXCLUDED.since OR ${counters}.since - ${counters}.amount > ${now}`
      ).pipe(failing),
    hold: ({ account, assemblyId, limit, millis }) =>
      Effect.gen(function* () {
        const lookups = yield* secrets.lookups(assemblyId)
        const prolonged = yield* sql`
          UPDATE ${places} SET held_until = ${yield* time} + ${millis}
          WHERE account = ${account} AND ${sql.in("lookup", lookups)} RETURNING place`
        return prolonged.length > 0 || (yield* take(account, assemblyId, limit, millis))
      }).pipe(failing),
    release: ({ account, assemblyId }) =>
      Effect.flatMap(secrets.lookups(assemblyId), (lookups) => release(account, lookups)).pipe(failing),
    overdue: ({ account, millis }) =>
      Effect.gen(function* () {
        const now = yield* time
        // No place is held for longer than `millis`, unless somebody has set the clock back.
        const rows = yield* sql<Readonly<Record<"lookup" | "secret" | "assembly", string>>>`
          UPDATE ${places} SET held_until = ${now} + ${millis}
          WHERE account = ${account} AND (held_until <= ${now} OR held_until > ${now} + ${millis})
          RETURNING lookup, secret, assembly`
        const opened = yield* Effect.forEach(rows, ({ assembly, lookup, secret }) =>
          secrets.open({ key: lookup, secret }, assembly).pipe(
            Effect.asSome,
            // Nobody who knows the secret is left, so nobody could ask for this Assembly.
            Effect.catch(() => Effect.as(release(account, [lookup]), Option.none()))
          )
        )
        return Arr.getSomes(opened)
      }).pipe(failing)
  })
})
