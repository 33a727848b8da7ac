import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Uploads from "../uploads.ts"

const rounds = 3

export const row: Harness.Row = {
  id: "M4",
  work: "1,000 uploads of 5 MiB at once",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(5 * Uploads.mebi)
    const ours: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const { peak } = yield* memory("many", [origin, path, 1000])
      ours.push(peak)
    }
    return [Harness.absolute({ peer: "nothing", target: Harness.atMost(512, "MiB"), unit: "MiB", ours })]
  })
}
