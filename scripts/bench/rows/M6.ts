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
    const own: Array<number> = []
    const ours: Array<number> = []
    const unsent: Array<number> = []
    const sent = Effect.fnUntraced(function* (work: string) {
      const { idle, peak, sha256 } = yield* memory(work, [origin, "", size])
      const stored = yield* Harness.attempt(async () => (await (await fetch(`${origin}/report`)).json()) as Report)
      if (stored.sha256 !== sha256 || stored.cuts !== 5 || stored.offset !== size || stored.length !== size) {
        return yield* Effect.fail(new Harness.BenchError(`sent ${sha256}, stored ${JSON.stringify(stored)}`))
      }
      return peak - idle
    })
    for (let round = 0; round < rounds; round++) {
      own.push(yield* sent("sink"))
      ours.push(yield* sent("sinkOfPieces"))
      const alone = yield* memory("pieces", [origin, "", size])
      unsent.push(alone.peak - alone.idle)
    }
    const target = Harness.atMost(64, "MiB")
    return [
      Harness.absolute({ peer: "idle; the pieces are views of one memory", target, unit: "MiB", ours: own }),
      Harness.absolute({ peer: "idle; each piece has new memory", target, unit: "MiB", ours }),
      Harness.ratio({
        peer: "idle; each piece has new memory, and nothing is sent",
        target: Harness.unbound,
        unit: "MiB",
        ours,
        theirs: unsent
      })
    ]
  })
}
