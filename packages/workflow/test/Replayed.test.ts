/** A runner that dies after it has recorded a state in the table of jobs, and before the engine stores the result. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { folder, job, live, storedIn, withRunner } from "./support.ts"

/**
 * Resets a database to the moment after the last byte: the table says `Processing`, and the engine has no result yet.
 */
const forgetResults = (path: string) =>
  Effect.sync(() => {
    const database = new DatabaseSync(path)
    database.exec(`
      UPDATE durable_jobs SET state = 'Processing', ended_at = NULL;
      DELETE FROM cluster_replies;
      UPDATE cluster_messages SET processed = 0, last_reply_id = NULL, last_read = NULL;
    `)
    database.close()
  })

layer(live, { excludeTestServices: true })("An activity that runs again", (it) => {
  it.effect("after all bytes were recorded as stored continues with the Assembly, and sends nothing", () =>
    Effect.gen(function* () {
      const { database, file } = yield* folder
      const content = yield* file("a.bin", 1000)
      const before = yield* Durable.run(job("again", [content])).pipe(withRunner(database))
      yield* forgetResults(database)
      const after = yield* Durable.await("again").pipe(withRunner(database))
      assert.strictEqual(after.assembly_id, before.assembly_id)
      assert.deepStrictEqual(storedIn(after), storedIn(before))
      assert.deepInclude(after, { started_tus_uploads: 1, finished_tus_uploads: 1 })
    })
  )
})
