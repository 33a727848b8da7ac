import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const size = 1024 * Uploads.mebi

export const row: Harness.Row = {
  id: "P4",
  work: "processor time of an upload of 1 GiB",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(size)
    const cost = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
      Effect.map(Uploads.cpuSeconds(effect), (seconds) => seconds / (size / 1e9))
    const samples = yield* Harness.alternate(
      {
        ours: cost(Uploads.ours(origin, path)),
        foreign: cost(Uploads.withForeign(Uploads.ours(origin, path))),
        tus: cost(Uploads.theirs(origin, path, size))
      },
      { rounds: 5 }
    )
    return [
      Harness.ratio({
        peer: "tus-js-client",
        target: Harness.atMost(1),
        unit: "s/GB",
        ours: samples.ours,
        theirs: samples.tus
      }),
      Harness.ratio({
        peer: Uploads.foreign("tus-js-client"),
        target: Harness.unbound,
        unit: "s/GB",
        ours: samples.foreign,
        theirs: samples.tus
      })
    ]
  }).pipe(Uploads.withNode)
}
