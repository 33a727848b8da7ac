/** Jobs of an embedded runner, from their start to their end. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folder, job, live, storedIn, withRunner } from "./support.ts"

layer(live, { excludeTestServices: true })("A durable job", (it) => {
  it.effect("uploads its files, and returns the Status of its Assembly", () =>
    Effect.gen(function* () {
      const { database, file } = yield* folder
      const contents = [yield* file("a.bin", 1000), yield* file("b.bin", 700_000)]
      const status = yield* Durable.run(job("first", contents)).pipe(withRunner(database))
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
      assert.deepStrictEqual(storedIn(status), contents.map(({ sha256 }) => sha256).toSorted())
    })
  )
})
