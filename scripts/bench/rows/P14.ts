import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as DurableSqlite from "@assembly-effect/workflow/DurableSqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Harness from "../harness.ts"
import * as Service from "../service.ts"
import * as Uploads from "../uploads.ts"

const large = 200 * Uploads.mebi
const small = 1024

const params = { steps: { ":original": { robot: "/upload/handle" } } }
const filename = "a.bin"

/** Both wait for the Assembly in the same way, so that only the work of the job is compared. */
const wait = { interval: "100 millis", maxInterval: "500 millis" } as const

const folder = Effect.acquireRelease(
  Harness.attempt(() => mkdtemp(join(tmpdir(), "bench-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

let next = 0
/** Each job has another key, because the same key would be the same job. */
const durable = (path: string) =>
  Effect.suspend(() =>
    Durable.run({ key: `job ${next++}`, params, files: [{ source: DurableJob.path(path), filename }] })
  ).pipe(Service.orFail)

const plain = (path: string) =>
  AssemblyUpload.run({ params, files: [{ source: UploadSource.fromPath(path), filename }], wait }).pipe(Service.orFail)

type Services = Effect.Services<ReturnType<typeof durable> | ReturnType<typeof plain>>

const compare = (path: string, rounds: number) =>
  Harness.alternate<"ours" | "theirs", Harness.BenchError, Services>(
    { ours: Harness.seconds(durable(path)), theirs: Harness.seconds(plain(path)) },
    { rounds }
  )

export const row: Harness.Row = {
  id: "P14",
  work: "a job with one file, durable in SQLite, from its start to its end",
  run: Effect.gen(function* () {
    const { port } = yield* Service.separate
    const database = join(yield* folder, "jobs.db")
    const big = yield* Uploads.file(large)
    const little = yield* Uploads.file(small)
    const runner = DurableSqlite.layer(database).pipe(
      Layer.provideMerge(Service.layerClient(`http://127.0.0.1:${port}`)),
      Layer.catch((error) => Layer.effectContext(Effect.fail(new Harness.BenchError(error.message))))
    )
    return yield* Effect.gen(function* () {
      const seconds = yield* compare(big, 7)
      const short = yield* compare(little, 30)
      return [
        Harness.ratio({
          peer: "AssemblyUpload.run: 200 MiB",
          target: Harness.atMost(1.05),
          unit: "s",
          ...seconds
        }),
        Harness.ratio({
          peer: "AssemblyUpload.run: 1 KiB",
          target: Harness.unbound,
          unit: "s",
          ...short
        })
      ]
    }).pipe(Effect.provide(runner))
  })
}
