import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const size = 256 * Uploads.mebi

export const row: Harness.Row = {
  id: "P5",
  work: "256 MiB over 50 ms and 20 MB/s a connection, parallel 4",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink({ SINK_RTT: "50", SINK_RATE: "20000000" })
    const path = yield* Uploads.file(size)
    const speed = Harness.throughput(size)
    const samples = yield* Harness.alternate(
      {
        ours: speed(Uploads.ours(origin, path, { parallel: 4 })),
        foreign: speed(Uploads.withForeign(Uploads.ours(origin, path, { parallel: 4 }))),
        single: speed(Uploads.ours(origin, path)),
        tus: speed(Uploads.theirs(origin, path, size, { parallelUploads: 4 }))
      },
      { rounds: 3, warmups: 0 }
    )
    return [
      Harness.ratio({
        peer: "tus-js-client",
        target: Harness.atLeast(1),
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
      }),
      Harness.ratio({
        peer: "our own single connection",
        target: Harness.atLeast(3.5),
        unit: "MB/s",
        ours: samples.ours,
        theirs: samples.single
      })
    ]
  }).pipe(Uploads.withNode)
}
