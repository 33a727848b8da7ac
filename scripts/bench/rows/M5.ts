import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Uploads from "../uploads.ts"

const rounds = 3

export const row: Harness.Row = {
  id: "M5",
  work: "1 GiB with the fetch client",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(1024 * Uploads.mebi)
    const ours: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const { idle, peak } = yield* memory("file", [origin, path], { BENCH_CLIENT: "fetch" })
      ours.push(peak - idle)
    }
    return [Harness.absolute({ peer: "idle", target: Harness.atMost(128, "MiB"), unit: "MiB", ours })]
  })
}
