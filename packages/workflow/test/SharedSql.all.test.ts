/** A budget, and a journal of uploads, in a database that several processes use at the same time: SQLite and Postgres. */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import { SqliteClient } from "@assembly-effect/sqlite"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { UploadJournal } from "@assembly-effect/tus"
import * as UploadJournalSql from "@assembly-effect/tus/UploadJournalSql"
import * as BudgetSql from "@assembly-effect/workflow/BudgetSql"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Clock, Context, Duration, Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { folder } from "./support.ts"

const url = "https://api.example.com"
const secrets = [Redacted.make("a secret of the deployment, 32 bytes or more")]

type Database = Layer.Layer<SqlClient.SqlClient, unknown>

const postgres = Effect.map(Server.make.pipe(Effect.flatMap((server) => server.database("shared"))), (path): Database =>
  PgClient.layer({ url: path })
)
const sqlite = Effect.map(folder, ({ database }): Database => SqliteClient.layer({ path: database }))

const databases = [
  ["SQLite", sqlite],
  ["Postgres", postgres]
] as const

/** The services of four processes, which create the tables at the same time. */
const inProcesses = <A, E>(database: Database, service: Layer.Layer<A, E, SqlClient.SqlClient>) =>
  Effect.forEach(
    Array.from({ length: 4 }),
    () => Layer.build(Layer.fresh(service).pipe(Layer.provide(Layer.fresh(database)))),
    { concurrency: "unbounded" }
  )

const processes = (database: Database, options: Omit<BudgetSql.Options, "secrets">) =>
  Effect.map(inProcesses(database, BudgetSql.layer({ secrets, ...options })), (all) =>
    all.map((context) => Context.get(context, Budget.Budget)!)
  )

layer(NodeFileSystem.layer)("A budget in SQL", (it) => {
  for (const [name, database] of databases) {
    it.effect(`in ${name}: four processes send no more than their rate, and at least two thirds of it`, function* () {
      const budgets = yield* processes(yield* database, { requests: 100 })
      const begun = yield* Clock.currentTimeMillis
      const entered = (budget: Budget.Budget) => budget.enter({ url, need: "request", until: Infinity })
      yield* Effect.forEach(
        Array.from({ length: 48 }, (_, index) => budgets[index % 4]!),
        entered,
        { concurrency: "unbounded", discard: true }
      )
      const seconds = ((yield* Clock.currentTimeMillis) - begun) / 1000
      // 2 tokens at once, then one every 103 milliseconds.
      assert.isAtLeast(seconds, 46 * 0.103)
      assert.isAtMost(seconds, 46 * 0.103 * 1.5)
    })

    it.effect(`in ${name}: of 40 Assemblies of four processes at the same time never more than 7 run`, function* () {
      const client = yield* database
      const budgets = yield* processes(client, { running: 7 })
      let running = 0
      let most = 0
      const run = (budget: Budget.Budget, index: number) =>
        Effect.gen(function* () {
          const assemblyId = String(index).padStart(32, "0")
          yield* budget.enter({ url, need: "creation", until: Infinity, assemblyId })
          most = Math.max(most, ++running)
          yield* Effect.sleep("20 millis")
          running--
          yield* budget.release(url, assemblyId)
        }).pipe(Effect.provideService(Budget.Watcher, { isRunning: () => Effect.succeed(true) }))
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => [budgets[index % 4]!, index] as const),
        ([budget, index]) => run(budget, index),
        { concurrency: "unbounded", discard: true }
      )
      assert.isAtMost(most, 7)
      assert.isAtLeast(most, 4)
      // Every place was given back.
      const rows = yield* Effect.provide(
        SqlClient.SqlClient.use((sql) => sql`SELECT place FROM assembly_budget_places`),
        client
      )
      assert.isEmpty(rows)
    })

    it.effect(`in ${name}: a pause holds every process, and a longer one counts`, function* () {
      const [first, second, ...others] = yield* processes(yield* database, {})
      const begun = yield* Clock.currentTimeMillis
      yield* first!.pause("request", Duration.seconds(2))
      yield* second!.pause("request", Duration.millis(10))
      yield* Effect.forEach([first!, ...others], (budget) => budget.enter({ url, need: "request", until: Infinity }), {
        concurrency: "unbounded",
        discard: true
      })
      assert.isAtLeast((yield* Clock.currentTimeMillis) - begun, 2000)
    })
  }
})

layer(NodeFileSystem.layer)("A journal in SQL", (it) => {
  for (const [name, database] of databases) {
    it.effect(`in ${name} is created by four processes at once: a key has one holder at a time`, function* () {
      const all = yield* inProcesses(yield* database, UploadJournalSql.layer({ table: "my_uploads" }))
      const journals = all.map(Context.get(UploadJournal.UploadJournal))
      for (let round = 0; round < 20; round++) {
        const scope = yield* Scope.make()
        const leases = yield* Effect.forEach(
          journals,
          (journal) => Effect.option(Scope.provide(journal.lease(`k${round % 3}`), scope)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(leases.filter(Option.isSome), 1, `round ${round}`)
        yield* Scope.close(scope, Exit.void)
      }
      // What one process has written, the others read.
      const entry = { _tag: "Created" as const, assemblyId: "0".repeat(32) as never, writtenAt: Date.now() }
      yield* journals[0]!.assemblies.put("joba", entry)
      yield* journals[1]!.assemblies.put("joba", { ...entry, _tag: "Completed" })
      for (const { assemblies } of journals) {
        assert.strictEqual(Option.getOrThrow(yield* assemblies.get("joba"))._tag, "Completed")
        assert.deepStrictEqual(
          (yield* assemblies.list).map(({ key }) => key),
          ["joba"]
        )
      }
    })
  }
})
