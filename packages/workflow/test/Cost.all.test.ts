/** How many statements a job needs. */
import { Durable } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { StatementSync } from "node:sqlite"
import { durableTests } from "./running.ts"
import { job, withRunner } from "./support.ts"

/** Collects the statements about jobs, without those that begin and end transactions, until the scope closes. */
const statements = Effect.gen(function* () {
  const texts: Array<string> = []
  const { all, run } = StatementSync.prototype
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      for (const [name, method] of [
        ["all", all],
        ["run", run]
      ] as const) {
        StatementSync.prototype[name] = function (this: StatementSync, ...params: Array<never>) {
          // The emulator has a database in this process as well.
          if (/durable_|assembly_budget/u.test(this.sourceSQL)) texts.push(this.sourceSQL.replace(/\s+/gu, " ").trim())
          return Reflect.apply(method, this, params)
        } as never
      }
    }),
    () => Effect.sync(() => Object.assign(StatementSync.prototype, { all, run }))
  )
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

durableTests("A durable job", (it) => {
  it.alone("needs at most 14 statements, whatever the size of its file", function* ({ database, file }) {
    const contents = [yield* file("a.bin", 1000), yield* file("b.bin", 1000), yield* file("c.bin", 4_000_000)]
    const texts = yield* statements
    const counts: Array<number> = []
    yield* Effect.gen(function* () {
      for (const content of contents) {
        texts.length = 0
        yield* Durable.run(job(content.path, [content]))
        counts.push(texts.filter((text) => !polls.some((poll) => poll.test(text))).length)
      }
    }).pipe(withRunner(database, { upload: { chunkSize: 500_000 } }))
    for (const count of counts) assert.isAtMost(count, 14)
    assert.isAbove(Math.min(...counts), 5)
  })
})
