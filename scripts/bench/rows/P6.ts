import * as Effect from "effect/Effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const count = 2000
const size = 16 * 1024

const files = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "bench-"))
    const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)))
    for (const path of paths) await writeFile(path, new Uint8Array(size))
    return { folder, paths }
  }),
  ({ folder }) => Effect.promise(() => rm(folder, { recursive: true }))
)

export const row: Harness.Row = {
  id: "P6",
  work: "2,000 files of 16 KiB, 16 at once",
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const { paths } = yield* files
    const target = yield* Uploads.target(origin)
    const all = <E, R>(one: (path: string) => Effect.Effect<unknown, E, R>) =>
      Effect.map(
        Harness.seconds(Effect.forEach(paths, one, { concurrency: 16, discard: true })),
        (seconds) => count / seconds
      )
    const samples = yield* Harness.alternate(
      {
        ours: all((path) => Uploads.oursTo(target, path)),
        tus: all((path) => Uploads.theirs(origin, path, size)),
        raw: all((path) => Uploads.rawSmall(origin, path, size))
      },
      { rounds: 5 }
    )
    return [
      Harness.ratio({
        peer: "tus-js-client",
        target: Harness.atLeast(1.6),
        unit: "files/s",
        ours: samples.ours,
        theirs: samples.tus
      }),
      Harness.ratio({
        peer: "the same calls by hand (node:fs, undici)",
        target: Harness.unbound,
        unit: "files/s",
        ours: samples.ours,
        theirs: samples.raw
      })
    ]
  }).pipe(Uploads.withNode)
}
