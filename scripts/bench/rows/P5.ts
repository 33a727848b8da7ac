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
    const module = new URL("../programs/upload-parts.ts", import.meta.url)
    const speed = (side: string) =>
      Effect.map(Harness.worker(module, [side, origin, path, String(size)]), (upload) =>
        Effect.map(upload, (seconds) => size / 1e6 / seconds)
      )
    const samples = yield* Harness.alternate(
      {
        ours: yield* speed("ours"),
        foreign: yield* speed("foreign"),
        single: yield* speed("single"),
        tus: yield* speed("tus")
      },
      { rounds: 5 }
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
  })
}
