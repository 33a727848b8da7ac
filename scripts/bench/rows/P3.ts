import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const size = 1024 * Uploads.mebi
const chunkSize = 8 * Uploads.mebi

export const row: Harness.Row = {
  id: "P3",
  work: "upload 1 GiB in chunks of 8 MiB to a sink",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(size)
    const speed = Harness.throughput(size)
    const samples = yield* Harness.alternate(
      {
        ours: speed(Uploads.ours(origin, path, { chunkSize })),
        foreign: speed(Uploads.withForeign(Uploads.ours(origin, path, { chunkSize }))),
        tus: speed(Uploads.theirs(origin, path, size, { chunkSize }))
      },
      { rounds: 5 }
    )
    return [
      Harness.ratio({
        peer: "tus-js-client",
        target: Harness.atLeast(1.8),
        unit: "MB/s",
        ours: samples.ours,
        theirs: samples.tus
      }),
      Harness.ratio({
        peer: Uploads.foreign("tus-js-client"),
        target: Harness.unbound,
        unit: "MB/s",
        ours: samples.foreign,
        theirs: samples.tus
      })
    ]
  }).pipe(Uploads.withNode)
}
