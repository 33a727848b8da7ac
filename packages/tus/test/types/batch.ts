/** The jobs of a batch: a misspelt option does not compile, and `data` keeps its type. */
import * as AssemblyBatch from "@assembly-effect/tus/AssemblyBatch"
import * as DeliveryProof from "@assembly-effect/tus/DeliveryProof"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const job = (row: number) => ({
  data: { row },
  params: { templateId: "thumbnails" },
  files: [{ source: UploadSource.fromBytes(new Uint8Array(1)), filename: `${row}.txt` }]
})

const rows = Stream.range(1, 3)

export const proven = AssemblyBatch.run(Stream.map(rows, (row) => ({ ...job(row), verify: DeliveryProof.md5 })))

export const rowOf = Stream.map(AssemblyBatch.run(Stream.map(rows, job)), (outcome): number => outcome.job.data.row)

const misspelt = Stream.map(rows, (row) => ({ ...job(row), verfy: DeliveryProof.md5 }))

export const unproven = AssemblyBatch.run(
  // @ts-expect-error: there is no option `verfy`
  misspelt
)

export const unprovenToo = AssemblyBatch.runResumable(
  // @ts-expect-error: there is no option `verfy`
  misspelt
)

export const fromPaths = AssemblyBatch.runResumable(
  Stream.map(Stream.make("a.txt"), (path) => ({
    data: path,
    params: {},
    files: [{ source: Effect.suspend(() => UploadSource.fromPath(path)), filename: path }]
  }))
)
