import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Effect from "effect/Effect"
import * as Growth from "../growth.ts"
import type * as Harness from "../harness.ts"
import * as Service from "../service.ts"

const bytes = new Uint8Array(1024)

/** Runs a whole job: creates the Assembly, uploads the files, and waits for the end. */
const job = (count: number, concurrency: number) =>
  Effect.suspend(() =>
    AssemblyUpload.run({
      params: { steps: { ":original": { robot: "/upload/handle" } } },
      files: Array.from({ length: count }, (_, index) => ({
        source: UploadSource.fromBytes(bytes),
        filename: `${index}.bin`
      })),
      concurrency
    })
  )

export const row: Harness.Row = {
  id: "P15-files",
  work: "one Assembly with files of 1 KiB, from its creation to its end",
  axes: { x: "files of the Assembly", y: "time of the job (ms)" },
  run: Effect.gen(function* () {
    const { port } = yield* Service.separate
    const measured = (count: number, concurrency: number) =>
      Growth.millis(Service.orFail(job(count, concurrency))).pipe(
        Effect.provide(Service.layerClient(`http://127.0.0.1:${port}`))
      )
    return yield* Growth.measure({
      sizes: [1, 20, 200, 2000],
      rounds: 3,
      prepare: (count) =>
        Effect.succeed({ "4 files at once": measured(count, 4), "16 files at once": measured(count, 16) })
    })
  }).pipe(Service.orFail)
}
