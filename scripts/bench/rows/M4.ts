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
    const foreign: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      ours.push((yield* memory("many", [origin, path, 1000])).peak)
      foreign.push((yield* memory("many", [origin, path, 1000], { BENCH_CLIENT: "foreign" })).peak)
    }
    const target = Harness.atMost(512, "MiB")
    return [
      Harness.absolute({ peer: "nothing", target, unit: "MiB", ours }),
      Harness.absolute({ peer: Uploads.foreign("nothing"), target, unit: "MiB", ours: foreign })
    ]
  })
}
