import * as Effect from "effect/Effect"
import { bundleSizes } from "../bundle.ts"
import * as Harness from "../harness.ts"

export const row: Harness.Row = {
  id: "P10",
  work: "edge bundle of one signed operation, minified and gzipped",
  run: Effect.gen(function* () {
    const [ours, plain] = yield* Harness.attempt(() => bundleSizes(["edge-ours", "edge-plain"]))
    return [
      {
        peer: "the same call with Effect alone",
        target: Harness.atMost(12, "kB more"),
        unit: "kB",
        value: ours - plain,
        samples: { ours: [ours], theirs: [plain] }
      }
    ]
  })
}
