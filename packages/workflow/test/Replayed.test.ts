/** A runner that dies after it has recorded that all bytes are stored. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { folder, job, live, storedIn, withRunner } from "./support.ts"

layer(live, { excludeTestServices: true })("A job that is Processing", (it) => {
  it.effect("whose runner has died continues with its Assembly, and sends nothing", () =>
    Effect.gen(function* () {
      const { database, file } = yield* folder
      const content = yield* file("a.bin", 1000)
      const before = yield* Durable.run(job("again", [content])).pipe(withRunner(database))
      const opened = new DatabaseSync(database)
      opened.exec("UPDATE durable_jobs SET state = 'Processing', runner = 'dead', due_at = 1, ended_at = NULL")
      opened.close()
      const after = yield* Durable.await("again").pipe(withRunner(database))
      assert.strictEqual(after.assembly_id, before.assembly_id)
      assert.deepStrictEqual(storedIn(after), storedIn(before))
      assert.deepInclude(after, { started_tus_uploads: 1, finished_tus_uploads: 1 })
    })
  )
})
