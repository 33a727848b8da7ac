/** Jobs that cannot go on do not keep those behind them in the queue. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { DatabaseSync } from "node:sqlite"
import { folder, job, live, steps, withRunner } from "./support.ts"

/** Changes the database between two runners. */
const change = (database: string, statements: string) =>
  Effect.sync(() => {
    const opened = new DatabaseSync(database)
    opened.exec(statements)
    opened.close()
  })

/** No runner can record that one of these jobs has begun. */
const stuck = `
  CREATE TRIGGER stuck BEFORE UPDATE ON durable_jobs
  WHEN NEW.state = 'Uploading' AND NEW.job_key LIKE 'stuck%'
  BEGIN SELECT RAISE(ABORT, 'the disk is broken'); END`

/** The database with its tables. */
const prepared = Effect.gen(function* () {
  const { database, file } = yield* folder
  const content = yield* file("a.bin", 1000)
  yield* Effect.void.pipe(withRunner(database))
  return { database, content }
})

const keys = Array.from({ length: 5 }, (_, index) => `stuck ${index}`)

layer(live, { excludeTestServices: true })("Jobs behind others that cannot go on", (it) => {
  it.effect("run although those before them cannot begin, also after a restart", () =>
    Effect.gen(function* () {
      const { content, database } = yield* prepared
      yield* change(database, stuck)
      // With one place, the engine has two queued jobs.
      const options = { uploads: 1 }
      yield* Effect.gen(function* () {
        for (const key of keys) yield* Durable.start(job(key, [content]))
        yield* Durable.run(job("behind 1", [content]))
      }).pipe(withRunner(database, options))
      yield* Durable.run(job("behind 2", [content])).pipe(withRunner(database, options))
    }).pipe(Effect.timeout("50 seconds"))
  )

  it.effect("wait no longer than the patience of the runner, and then those before them have failed", () =>
    Effect.gen(function* () {
      const { content, database } = yield* prepared
      yield* change(database, stuck)
      yield* Effect.gen(function* () {
        yield* Durable.start(job("stuck", [content]))
        const error = yield* Effect.flip(Durable.await("stuck"))
        assert(error._tag === "JobFailed")
        assert.strictEqual(error.failure.reason, "StoreFailed")
      }).pipe(withRunner(database, { patience: "1 second" }))
    }).pipe(Effect.timeout("50 seconds"))
  )

  it.effect("are canceled although the cancellations before them cannot be carried out", () =>
    Effect.gen(function* () {
      const { content, database } = yield* prepared
      const slow = { ...steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 60 } }
      // Its workflow sleeps until a notification, so only the queue cancels it.
      const params = { steps: slow, notifyUrl: "http://127.0.0.1:9/never" }
      const options = { uploads: 1, pollInterval: "1 hour" } as const
      const until = (state: string) =>
        Durable.status("behind").pipe(
          Effect.repeat({ until: (now) => now.state === state, schedule: Schedule.spaced("20 millis") })
        )
      yield* Effect.gen(function* () {
        yield* Durable.start(job("behind", [content], { params }))
        yield* until("Processing")
        // The first looks of the workflow have ended.
        yield* Effect.sleep("3 seconds")
      }).pipe(withRunner(database, options))
      const copies = keys.map(
        (key) => `
          INSERT INTO durable_jobs (job_key, attempt, state, job, sources, size, shard, begins, secret, salt, queued_at, canceled_at)
          SELECT '${key}', 1, 'Canceling', job, sources, size, shard, 1, '${"0".repeat(32)}', salt, 0, ${Number.MAX_SAFE_INTEGER}
          FROM durable_jobs WHERE job_key = 'behind';`
      )
      yield* change(database, `${copies.join("")} UPDATE durable_jobs SET state = 'Canceling' WHERE job_key = 'behind'`)
      yield* until("Canceled").pipe(withRunner(database, options))
    }).pipe(Effect.timeout("50 seconds"))
  )
})
