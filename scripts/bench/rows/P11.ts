import * as Effect from "effect/Effect"
import { bundleSize } from "../bundle.ts"
import * as Harness from "../harness.ts"

const size = (program: string) => Harness.attempt(() => bundleSize(program))

const imports = {
  "upload-deep": "the same upload with Effect alone, our deep imports",
  "upload-index": "the same upload with Effect alone, our index imports"
}

export const row: Harness.Row = {
  id: "P11",
  work: "page bundle of an upload of a File with progress and resume, minified and gzipped",
  run: Effect.gen(function* () {
    const plain = yield* size("upload-plain")
    return yield* Effect.forEach(Object.entries(imports), ([program, peer]) =>
      Effect.map(size(program), (ours): Harness.Figure => ({
        peer,
        target: Harness.atMost(20, "kB more"),
        unit: "kB",
        value: ours - plain,
        samples: { ours: [ours], theirs: [plain] }
      }))
    )
  })
}
