import * as Effect from "effect/Effect"
import * as Growth from "../growth.ts"
import type * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const size = 64 * 1024

export const row: Harness.Row = {
  id: "P15-uploads",
  work: "uploads of 64 KiB, all at once",
  axes: { x: "uploads at once", y: "time for all (ms)" },
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(size)
    const target = yield* Uploads.target(origin)
    return yield* Growth.measure({
      sizes: [1, 10, 100, 1000],
      rounds: 7,
      prepare: (count) => {
        const all = <E, R>(one: Effect.Effect<unknown, E, R>) =>
          Growth.millis(Effect.replicateEffect(one, count, { concurrency: "unbounded", discard: true }))
        return Effect.succeed({
          "Upload.run": all(Uploads.oursTo(target, path)),
          "tus-js-client": all(Uploads.theirs(origin, path, size))
        })
      }
    })
  }).pipe(Uploads.withNode)
}
