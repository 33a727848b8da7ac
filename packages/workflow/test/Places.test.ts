/** The limit of files that a runner sends at the same time. */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as ObjectStores from "@assembly-effect/workflow/ObjectStores"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { folder, job, live, withRunner } from "./support.ts"

layer(live, { excludeTestServices: true })("The places of a runner", (it) => {
  for (const uploads of [1, 2]) {
    it.effect(`let ${uploads} files be sent at the same time, also those of one job`, () =>
      Effect.gen(function* () {
        const { database } = yield* folder
        let now = 0
        let most = 0
        const whole = UploadSource.fromBytes(new Uint8Array(1000))
        const stores = ObjectStores.layer({
          counted: (key) =>
            Effect.succeed({
              _tag: "Replayable" as const,
              size: whole.size,
              identity: Effect.succeed(key),
              bytes: (start, end) =>
                Stream.unwrap(
                  Effect.gen(function* () {
                    yield* Effect.acquireRelease(
                      Effect.sync(() => {
                        most = Math.max(most, ++now)
                      }),
                      () => Effect.sync(() => now--)
                    )
                    // As many as may be read at the same time are waited for, and then a file too many has time to begin.
                    yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => most >= uploads }))
                    yield* Effect.sleep("50 millis")
                    return whole.bytes(start, end)
                  })
                )
            })
        })
        const files = Array.from({ length: 6 }, (_, index) => ({
          source: DurableJob.object("counted", `${index}`),
          filename: `${index}.bin`
        }))
        const status = yield* Durable.run(job("many", [], { files })).pipe(
          withRunner(database, { uploads }),
          Effect.provide(stores)
        )
        assert.deepInclude(status, { started_tus_uploads: 6, finished_tus_uploads: 6 })
        assert.strictEqual(most, uploads)
      })
    )
  }
})
