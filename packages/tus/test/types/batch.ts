/** The jobs of a batch: a misspelt option does not compile, and `data` keeps its type. */
import { AssemblyUpload, DeliveryProof, UploadSource } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"

const job = (row: number) => ({
  data: { row },
  params: { templateId: "thumbnails" },
  files: [{ source: UploadSource.fromBytes(new Uint8Array(1)), filename: `${row}.txt` }]
})

const rows = Stream.range(1, 3)

export const proven = AssemblyUpload.runAll(Stream.map(rows, (row) => ({ ...job(row), verify: DeliveryProof.md5 })))

export const rowOf = rows.pipe(
  Stream.map(job),
  AssemblyUpload.runAll({ ordered: true }),
  Stream.map((outcome): number => outcome.job.data.row)
)

const misspelt = Stream.map(rows, (row) => ({ ...job(row), verfy: DeliveryProof.md5 }))

export const unproven = AssemblyUpload.runAll(
  // @ts-expect-error: there is no option `verfy`
  misspelt
)

export const fromPaths = Stream.make("a.txt").pipe(
  Stream.map((path) => ({
    data: path,
    params: {},
    files: [{ source: Effect.suspend(() => UploadSource.fromPath(path)), filename: path }]
  })),
  AssemblyUpload.runAll()
)
