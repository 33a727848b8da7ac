/**
 * Many jobs at once: the queue is in the database, and each runner takes few of them. With `DURABLE_JOBS`, each test
 * queues and uploads this many jobs, and prints its figures.
 */
import { Durable, DurableSqlite } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, type Layer, Redacted, Schedule, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql/SqlError"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Postgres from "@assembly-effect/testkit/postgres/Postgres"
import { durableTests } from "./running.ts"
import { folder, job } from "./support.ts"

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

/** An empty database. */
interface Store {
  readonly runner: (options?: {
    readonly uploads: number
  }) => Layer.Layer<Durable.Durable, unknown, Layer.Services<ReturnType<typeof DurableSqlite.layer>>>
  /** Runs a program, and fails if the runner loses its jobs in this time. */
  readonly whileHeld: <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
}

const sqlite = Effect.map(folder, ({ database }): Store => ({
  runner: (options) => DurableSqlite.layer(database, options),
  // The lock of the file is the only one, and nobody else can have it.
  whileHeld: (program) => program
}))

const postgres = Effect.gen(function* () {
  const server = yield* Postgres.make
  const url = yield* server.database("queue")
  const sql = yield* PgClient.make({ url }).pipe(Effect.provide(Reactivity.layer))
  const runners = sql<{ readonly id: string }>`SELECT id FROM durable_runners`

  const store: Store = {
    runner: (options) =>
      DurablePostgres.runner({
        database: { url },
        secrets: [Redacted.make("the secret of a deployment for tests")],
        // A busy machine may take seconds for a query. `reliability:durable` has an idle one, and the default expiry.
        ...(full === undefined ? { expiry: "5 minutes" as const } : {}),
        ...options
      }),
    whileHeld: (program) =>
      Effect.gen(function* () {
        const first = yield* runners
        let looks = 0
        const watch = Effect.flatMap(runners, (now) =>
          Effect.sync(() => {
            looks++
            assert.deepStrictEqual(now, first, "the runner has lost its row")
          })
        )
        const result = yield* Effect.raceFirst(
          program,
          watch.pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.andThen(Effect.never))
        )
        yield* watch
        yield* print(`${looks} looks at the runners: one kept its row`)
        return result
      })
  }
  return store
})

durableTests("A queue of durable jobs", (it) => {
  for (const { name, store } of [
    { name: "SQLite", store: sqlite },
    { name: "Postgres", store: postgres }
  ]) {
    it.alone(
      `has ${count} jobs in ${name}, uploads each once, and few at the same time`,
      function* ({ file, gate }) {
        const { runner, whileHeld } = yield* store
        const content = yield* file("a.bin", 1000)
        yield* Effect.gen(function* () {
          yield* Durable.start(job("first", [], { files: [gate.file("first")] }))
          yield* gate.reached
          const begun = performance.now()
          const before = heap()
          const keys = Stream.range(1, count).pipe(Stream.map((number) => job(`job ${number}`, [content])))
          const queued = yield* Durable.startAll(keys).pipe(
            Stream.filter(({ _tag }) => _tag === "Started"),
            Stream.runCount,
            whileHeld
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
          ).pipe(whileHeld)
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
