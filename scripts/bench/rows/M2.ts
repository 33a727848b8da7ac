import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Uploads from "../uploads.ts"

const rounds = 3

export const row: Harness.Row = {
  id: "M2",
  work: "one-shot stream of 4 GiB, window 8 MiB",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const ours: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const { idle, peak } = yield* memory("stream", [origin, "", 4 * 1024 * Uploads.mebi])
      ours.push(peak - idle)
    }
    return [Harness.absolute({ peer: "idle", target: Harness.atMost(96, "MiB"), unit: "MiB", ours })]
  })
}
