import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Uploads from "../uploads.ts"

const rounds = 3

export const row: Harness.Row = {
  id: "M3",
  work: "5,000 uploads one after another",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(64 * 1024)
    const slopes: Array<number> = []
    const restSlopes: Array<number> = []
    const left: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const found = yield* memory("sequence", [origin, path, 5000, 500])
      slopes.push(found.slope ?? Number.NaN)
      restSlopes.push(found.restSlope ?? Number.NaN)
      left.push(found.left ?? Number.NaN)
    }
    return [
      Harness.absolute({
        peer: "growth in 1,000 uploads",
        target: Harness.atMost(1, "MiB"),
        unit: "MiB",
        ours: slopes
      }),
      Harness.absolute({
        peer: "growth in 1,000 uploads, without V8's young generation",
        target: Harness.atMost(1, "MiB"),
        unit: "MiB",
        ours: restSlopes
      }),
      Harness.absolute({
        peer: "files and sockets left open",
        target: Harness.atMost(0, ""),
        unit: "handles",
        ours: left
      })
    ]
  })
}
