/** How many statements a job needs. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { StatementSync } from "node:sqlite"
import { folder, job, live, withRunner } from "./support.ts"

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
          if (/durable_|cluster_/u.test(this.sourceSQL)) texts.push(this.sourceSQL.replace(/\s+/gu, " ").trim())
          return Reflect.apply(method, this, params)
        } as never
      }
    }),
    () => Effect.sync(() => Object.assign(StatementSync.prototype, { all, run }))
  )
  return texts
})

/**
 * The statements that run at an interval, so that their number does not depend on jobs: of the queue, of `await`, and
 * of the engine.
 */
const polls = [
  /^SELECT paused_until FROM "durable_deployment"/u,
  /^SELECT job_key, attempt, queued_at FROM "durable_jobs" WHERE/u,
  /^SELECT \* FROM "durable_jobs" WHERE "job_key" IN/u,
  /^SELECT .* FROM "cluster_messages" m .* WHERE m\.shard_id IN/u
]

layer(live, { excludeTestServices: true })("A durable job", (it) => {
  it.effect("needs at most 30 statements, whatever the size of its file", () =>
    Effect.gen(function* () {
      const { database, file } = yield* folder
      const contents = [yield* file("a.bin", 1000), yield* file("b.bin", 1000), yield* file("c.bin", 4_000_000)]
      const texts = yield* statements
      const counts: Array<number> = []
      yield* Effect.gen(function* () {
        for (const content of contents) {
          texts.length = 0
          yield* Durable.run(job(content.path, [content]))
          // The last reply of the engine follows the end of the job.
          yield* Effect.suspend(() =>
            texts.filter((text) => text.startsWith('INSERT INTO "cluster_replies"')).length < 3
              ? Effect.fail("not yet")
              : Effect.void
          ).pipe(Effect.retry(Schedule.spaced("10 millis")))
          counts.push(texts.filter((text) => !polls.some((poll) => poll.test(text))).length)
        }
      }).pipe(withRunner(database, { upload: { chunkSize: 500_000 } }))
      // The engine joins two of its statements if they come at the same time, so the test checks a limit.
      for (const count of counts) assert.isAtMost(count, 30)
      assert.isAbove(Math.min(...counts), 10)
    })
  )
})
