import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const size = 1024 * Uploads.mebi

export const row: Harness.Row = {
  id: "P2",
  work: "upload 1 GiB in one PATCH to a sink",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(size)
    const speed = Harness.throughput(size)
    const samples = yield* Harness.alternate(
      {
        ours: speed(Uploads.ours(origin, path)),
        foreign: speed(Uploads.withForeign(Uploads.ours(origin, path))),
        raw256: speed(Uploads.raw(origin, path, size, Uploads.mebi / 4)),
        raw1024: speed(Uploads.raw(origin, path, size, Uploads.mebi))
      },
      { rounds: 5 }
    )
    const better = samples.raw256.map((sample, round) => Math.max(sample, samples.raw1024[round]!))
    return [
      Harness.ratio({
        peer: "raw node:http, the better of 256 KiB and 1 MiB",
        target: Harness.atLeast(1.2),
        unit: "MB/s",
        ours: samples.ours,
        theirs: better
      }),
      Harness.ratio({
        peer: Uploads.foreign("raw node:http"),
        target: Harness.unbound,
        unit: "MB/s",
        ours: samples.foreign,
        theirs: better
      })
    ]
  }).pipe(Uploads.withNode)
}
