import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Uploads from "../uploads.ts"

const rounds = 3
const size = 1024 * Uploads.mebi

interface Report {
  readonly sha256: string
  readonly cuts: number
  readonly offset: number
  readonly length: number
}

export const row: Harness.Row = {
  id: "M6",
  work: "a stream of 1 GiB into Upload.sink, the connection cut five times",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.cutting(170 * Uploads.mebi)
    const ours: Array<number> = []
    const unsent: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const { idle, peak, sha256 } = yield* memory("sink", [origin, "", size])
      const stored = yield* Harness.attempt(async () => (await (await fetch(`${origin}/report`)).json()) as Report)
      if (stored.sha256 !== sha256 || stored.cuts !== 5 || stored.offset !== size || stored.length !== size) {
        return yield* Effect.fail(new Harness.BenchError(`sent ${sha256}, stored ${JSON.stringify(stored)}`))
      }
      ours.push(peak - idle)
      const alone = yield* memory("pieces", [origin, "", size])
      unsent.push(alone.peak - alone.idle)
    }
    return [
      Harness.absolute({ peer: "idle", target: Harness.atMost(64, "MiB"), unit: "MiB", ours }),
      Harness.ratio({
        peer: "idle; the stream alone, nothing sent",
        target: Harness.unbound,
        unit: "MiB",
        ours,
        theirs: unsent
      })
    ]
  })
}
