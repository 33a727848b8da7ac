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
import { attempting } from "./store.ts"

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

  const release = (account: string, lookups: ReadonlyArray<string>) =>
    sql`DELETE FROM ${places} WHERE account = ${account} AND ${sql.in("lookup", lookups)}`

  /** Takes a place that nobody has. Returns false if there is none. */
  const take = Effect.fnUntraced(function* (account: string, assemblyId: string, limit: number, until: number) {
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
        INSERT INTO ${places} ${sql.insert({ account, place, lookup, secret, assembly, held_until: until })}
        ON CONFLICT DO NOTHING RETURNING place`
      if (inserted.length > 0) return true
    }
  })

  return Budget.BudgetStore.of({
    pausedUntil: (name) =>
      sql<{ readonly since: number }>`SELECT since FROM ${counters} WHERE name = ${name}`.pipe(
        Effect.map(([row]) => row?.since ?? 0),
        failing
      ),
    pause: (name, until) =>
      sql`
        INSERT INTO ${counters} (name, amount, since) VALUES (${name}, 0, ${until})
        ON CONFLICT (name) DO UPDATE SET since = EXCLUDED.since WHERE ${counters}.since < EXCLUDED.since`.pipe(failing),
    hold: ({ account, assemblyId, limit, until }) =>
      Effect.gen(function* () {
        const lookups = yield* secrets.lookups(assemblyId)
        const prolonged = yield* sql`
          UPDATE ${places} SET held_until = ${until}
          WHERE account = ${account} AND ${sql.in("lookup", lookups)} RETURNING place`
        return prolonged.length > 0 || (yield* take(account, assemblyId, limit, until))
      }).pipe(failing),
    release: ({ account, assemblyId }) =>
      Effect.flatMap(secrets.lookups(assemblyId), (lookups) => release(account, lookups)).pipe(failing),
    overdue: ({ account, now, until }) =>
      Effect.gen(function* () {
        const rows = yield* sql<Readonly<Record<"lookup" | "secret" | "assembly", string>>>`
          UPDATE ${places} SET held_until = ${until} WHERE account = ${account} AND held_until <= ${now}
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
