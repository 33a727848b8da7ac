import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Uploads from "../uploads.ts"

const rounds = 3

export const row: Harness.Row = {
  id: "M1",
  work: "peak memory for 16 GiB against 1 GiB",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const small = yield* Uploads.file(1024 * Uploads.mebi)
    const large = yield* Uploads.file(16 * 1024 * Uploads.mebi)
    const rest = { large: [] as Array<number>, small: [] as Array<number> }
    const peakOf = (side: keyof typeof rest, path: string) =>
      Effect.map(memory("file", [origin, path]), ({ peak, restPeak }) => {
        rest[side].push(restPeak)
        return peak
      })
    const samples = yield* Harness.alternate(
      {
        large: peakOf("large", large),
        foreign: Effect.map(memory("file", [origin, large], { BENCH_CLIENT: "foreign" }), ({ peak }) => peak),
        small: peakOf("small", small)
      },
      { rounds, warmups: 0 }
    )
    return [
      Harness.ratio({
        peer: "a file of 1 GiB",
        target: Harness.atMost(1.1),
        unit: "MiB",
        ours: samples.large,
        theirs: samples.small
      }),
      Harness.ratio({
        peer: "a file of 1 GiB, both without V8's young generation",
        target: Harness.atMost(1.1),
        unit: "MiB",
        ours: rest.large,
        theirs: rest.small
      }),
      Harness.ratio({
        peer: Uploads.foreign("a file of 1 GiB"),
        target: Harness.unbound,
        unit: "MiB",
        ours: samples.foreign,
        theirs: samples.small
      })
    ]
  })
}
