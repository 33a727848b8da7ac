/**
 * Many jobs at once: the queue is in the database, and each runner takes few of them. With `DURABLE_JOBS`, each test
 * queues and uploads this many jobs, and prints its figures.
 */
import { Durable, DurableSqlite } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Redacted, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Postgres from "@assembly-effect/testkit/postgres/Postgres"
import { durableTests } from "./running.ts"
import { folder, job, withRunner } from "./support.ts"
import * as Watched from "./watched.ts"

const full = process.env["DURABLE_JOBS"]
const count = Number(full ?? 100)

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** The used memory in MiB, after a collection. */
const heap = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

const print = (figure: string): Effect.Effect<void> => (full === undefined ? Effect.void : Effect.log(figure))

/** A runner with an empty database, and the ids of the runners in it, where another process could take its jobs. */
const sqlite = Effect.map(folder, ({ database }) => ({
  runner: (options?: { readonly uploads: number }) => DurableSqlite.layer(database, options),
  ids: Effect.succeed<ReadonlyArray<unknown>>([])
}))

const postgres = Effect.gen(function* () {
  const server = yield* Postgres.make
  const url = yield* server.database("queue")
  const sql = yield* PgClient.make({ url }).pipe(Effect.provide(Reactivity.layer))
  return {
    runner: (options?: { readonly uploads: number }) =>
      DurablePostgres.runner({
        database: { url },
        secrets: [Redacted.make("the secret of a deployment for tests")],
        // A busy machine may take seconds for a query. `reliability:durable` has an idle one, and the default expiry.
        ...(full === undefined ? { expiry: "5 minutes" as const } : {}),
        ...options
      }),
    ids: Effect.orDie(sql<{ readonly id: string }>`SELECT id FROM durable_runners`)
  }
})

durableTests("A queue of durable jobs", (it) => {
  for (const { name, store } of [
    { name: "SQLite", store: sqlite },
    { name: "Postgres", store: postgres }
  ]) {
    it.alone(
      `has ${count} jobs in ${name}, uploads each once, and few at the same time`,
      function* ({ file, gate }) {
        const { ids, runner } = yield* store
        const content = yield* file("a.bin", 1000)
        yield* Effect.gen(function* () {
          yield* gate.begin("first")
          const begun = performance.now()
          const before = heap()
          const keys = Stream.range(1, count).pipe(Stream.map((number) => job(`job ${number}`, [content])))
          const queued = yield* Durable.startAll(keys).pipe(
            Stream.filter(({ _tag }) => _tag === "Started"),
            Stream.runCount
          )
          assert.strictEqual(queued, count)
          // The only upload that is allowed does not end, so no other job begins.
          const waiting = yield* Stream.runCount(Durable.list({ state: "Queued" }))
          assert.strictEqual(waiting, count)
          const queuing = heap() - before
          assert.isBelow(queuing, 32)
          const seconds = (performance.now() - begun) / 1000
          yield* print(`${count} jobs queued in ${seconds.toFixed(1)} s, ${queuing.toFixed(1)} MiB more`)
        }).pipe(Effect.provide(runner({ uploads: 1 }), { local: true }))

        // The next process continues the queue.
        yield* Effect.gen(function* () {
          const before = heap()
          const own = yield* ids
          yield* gate.open
          yield* Durable.await("first")
          const sent = performance.now()
          let most = 0
          yield* Effect.forEach(
            Array.from({ length: count }, (_, index) => index + 1),
            (number) =>
              Effect.tap(Durable.await(`job ${number}`), ({ uploads }) =>
                Effect.sync(() => {
                  assert.strictEqual(uploads?.[0]?.sha256, content.sha256)
                  if (number % 100 === 0) most = Math.max(most, heap())
                })
              ),
            { concurrency: 100, discard: true }
          )
          // A runner that had lost its row would have another one.
          assert.deepStrictEqual(yield* ids, own)
          assert.isBelow(most - before, 64)
          const seconds = (performance.now() - sent) / 1000
          yield* print(
            `uploaded in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} a second, at most ${(most - before).toFixed(1)} MiB more`
          )
          const completed = yield* Stream.runCount(Durable.list({ state: "Completed" }))
          assert.strictEqual(completed, count + 1)
        }).pipe(Effect.provide(runner(), { local: true }))
      },
      { timeout: 3_600_000 }
    )
  }
})

/** Collects the statements about jobs, without those that begin and end transactions, until the scope closes. */
const statementsOf = Effect.gen(function* () {
  const texts: Array<string> = []
  yield* Watched.statements(({ sourceSQL }, run) => {
    // The emulator has a database in this process as well.
    if (/durable_|assembly_budget/u.test(sourceSQL)) texts.push(sourceSQL.replace(/\s+/gu, " ").trim())
    return run()
  })
  return texts
})

/** The statements that a runner and `await` run at an interval, so that their number does not depend on jobs. */
const polls = [
  /^SELECT since - \? AS left FROM assembly_budget/u,
  /^DELETE FROM durable_jobs WHERE job_key IN/u,
  /^SELECT \* FROM durable_jobs WHERE "job_key" IN/u,
  /^SELECT pack FROM durable_jobs/u,
  /^SELECT \* FROM durable_jobs WHERE runner = /u,
  /^DELETE FROM durable_runners/u,
  /^UPDATE durable_jobs SET (?:runner = NULL|waiting|due_at)/u,
  /^UPDATE durable_jobs SET runner = \?, due_at/u
]

durableTests("A durable job of a queue", (it) => {
  it.alone("needs at most 14 statements, whatever the size of its file", function* ({ database, file }) {
    const contents = [yield* file("a.bin", 1000), yield* file("b.bin", 1000), yield* file("c.bin", 4_000_000)]
    const texts = yield* statementsOf
    const counts: Array<number> = []
    yield* Effect.gen(function* () {
      for (const content of contents) {
        texts.length = 0
        yield* Durable.run(job(content.path, [content]))
        counts.push(texts.filter((text) => !polls.some((poll) => poll.test(text))).length)
      }
    }).pipe(withRunner(database, { upload: { chunkSize: 500_000 } }))
    for (const needed of counts) assert.isAtMost(needed, 14)
    assert.isAbove(Math.min(...counts), 5)
  })
})
