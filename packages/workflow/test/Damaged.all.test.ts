/** Values that no program should have written: damaged rows, and numbers in a Status. The other jobs go on. */
import { Durable } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Stream } from "effect"
import { DatabaseSync } from "node:sqlite"
import { durableTests } from "./running.ts"
import { job, withRunner } from "./support.ts"
import * as Watched from "./watched.ts"

const numbers = ["0.5", "-1", "1e300", "9007199254740992", "'nonsense'"]

/** Columns with invalid values, as SQL. */
const damages = [
  ...["attempt", "waited", "queued_at", "ended_at", "size"].flatMap((column) =>
    numbers.map((value) => ({ column, value: column === "size" ? `'${value.replaceAll("'", "")}'` : value }))
  ),
  { column: "job", value: "'{'" },
  { column: "state", value: "'Lost'" },
  { column: "sources", value: "'{'" },
  { column: "sources", value: `'[{"size":"0.5","identity":"a"}]'` },
  { column: "failure", value: "'{}'" },
  { column: "waiting", value: `'{"reason":"a","message":"b","at":1e300}'` }
].filter(({ column, value }) => column !== "size" || !/^'\d+'$/u.test(value))

/** Adds copies of the row of the job `good`, each with one damaged column. */
const damage = (database: string) =>
  Effect.sync(() => {
    const opened = new DatabaseSync(database)
    const columns = "attempt, state, job, sources, size, due_at, waited, secret, queued_at"
    for (const [index, { column, value }] of damages.entries()) {
      opened.exec(`
        INSERT INTO durable_jobs (job_key, ${columns})
        SELECT 'bad ${index}', ${columns.replace("state", "'Queued'").replace("due_at", "0")} FROM durable_jobs WHERE job_key = 'good';
        UPDATE durable_jobs SET ${column} = ${value} WHERE job_key = 'bad ${index}'`)
    }
    opened.close()
  })

durableTests("A damaged row", (it) => {
  it.alone("is StoreFailed with its key and column, and every other job goes on", function* ({ database, file }) {
    const content = yield* file("a.bin", 100)
    yield* Durable.run(job("good", [content])).pipe(withRunner(database))
    yield* damage(database)
    yield* Effect.gen(function* () {
      yield* Durable.run(job("behind", [content]))
      yield* Effect.forEach(
        damages,
        Effect.fnUntraced(function* ({ column }, index) {
          const key = `bad ${index}`
          // A runner may have ended the job by then.
          const error = yield* Effect.flip(Durable.await(key))
          assert.include(["StoreFailed", "JobFailed"], error._tag)
          assert.include(error.message, `the stored job ${key} is damaged: invalid ${column}`)
        }),
        { concurrency: "unbounded", discard: true }
      )
      const error = yield* Effect.flip(Durable.status("bad 0"))
      assert.deepInclude(error, { _tag: "StoreFailed", key: "bad 0" })

      const listed: Array<string> = []
      const listing = Durable.list().pipe(Stream.runForEach(({ key }) => Effect.sync(() => listed.push(key))))
      assert.deepInclude(yield* Effect.flip(listing), { _tag: "StoreFailed", key: "bad 0" })
      assert.includeMembers(listed, ["behind", "good"])

      const jobs = Stream.make(job("bad 0", [content]), job("another", [content]))
      const outcomes = yield* Stream.runCollect(Durable.startAll(jobs))
      const tags = outcomes.map((outcome) => (outcome._tag === "Refused" ? outcome.error._tag : outcome._tag))
      assert.deepStrictEqual(tags, ["StoreFailed", "Started"])
      yield* Durable.await("another")
    }).pipe(withRunner(database, { uploads: 1 }))
  })
})

durableTests("The number of stored bytes", (it) => {
  it.alone("is undefined if the Status has an offset of 0.5, -1, 1e300 or 2^53", function* ({ database, gate }) {
    let offset = 0
    const hostile = Watched.requests("Assemblies.get", (run) =>
      Effect.map(run, (status) => Object.assign({}, status, { tus_uploads: [{ offset }] }))
    )
    yield* Effect.gen(function* () {
      yield* gate.begin("sending")
      for (const value of [0.5, -1, 1e300, 2 ** 53, Number.NaN]) {
        offset = value
        assert.deepInclude(yield* Durable.status("sending"), { state: "Uploading", stored: undefined })
      }
      offset = 7
      assert.strictEqual((yield* Durable.status("sending")).stored, 7n)
      yield* gate.open
    }).pipe(withRunner(database), hostile)
  })
})
