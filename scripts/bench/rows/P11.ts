import * as Effect from "effect/Effect"
import { bundleSizes } from "../bundle.ts"
import * as Harness from "../harness.ts"

export const row: Harness.Row = {
  id: "P11",
  work: "page bundle of an upload of a File with progress and resume, minified and gzipped",
  run: Effect.gen(function* () {
    const [deep, index, plain] = yield* Harness.attempt(() =>
      bundleSizes(["upload-deep", "upload-index", "upload-plain"])
    )
    const figure = (imports: string, ours: number): Harness.Figure => ({
      peer: `the same upload with Effect alone, our ${imports} imports`,
      target: Harness.atMost(20, "kB more"),
      unit: "kB",
      value: ours - plain,
      samples: { ours: [ours], theirs: [plain] }
    })
    return [figure("deep", deep), figure("index", index)]
  })
}
