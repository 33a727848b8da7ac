/**
 * A process that uploads with a journal and reports its start and what it came to. The parent kills it in between. Its
 * arguments are the folder of the journal, and either
 *
 * - `upload`, the two URLs of a target, the path of a file, the number of parts; or
 * - `jobs`, the URL of the service, the Auth Key, its secret, and the paths of files: one in a form, or several in packs.
 */
import { AssemblyUpload, Upload, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as Emulated from "./Emulated.ts"
import * as Journals from "./Journals.ts"

const [folder = "", kind = "", ...rest] = process.argv.slice(2)
const journal = UploadJournal.layerFileSystem(folder, { leaseDuration: "2 seconds" })

const upload = Effect.gen(function* () {
  const [tusUrl = "", assemblySslUrl = "", path = "", parallel = "1"] = rest
  const target = yield* UploadTarget.make({ tusUrl, assemblySslUrl })
  const source = yield* UploadSource.fromPath(path)
  return yield* Upload.run(target, source, {
    metadata: { filename: "a.bin", fieldname: "file" },
    retryDelay: "5 millis",
    chunkSize: 256 * 1024,
    parallel: Number(parallel)
  })
}).pipe(
  Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "complete" }),
  Effect.map((end) => void process.send?.(end)),
  Effect.provide(Upload.layerJournaled.pipe(Layer.provide(journal), Layer.provideMerge(Journals.platform)))
)

const [baseUrl = "", key = "", secret = "", ...paths] = rest
const isOne = paths.length === 1
const packing = { files: 8, within: "50 millis", repeatable: true } as const

const jobs = Stream.fromIterable(paths).pipe(
  Stream.map((path) => ({
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source: UploadSource.fromPath(path), filename: "a.bin" }],
    wait: { interval: "20 millis" } as const,
    ...(isOne ? ({ transport: "form", resend: true } as const) : {})
  })),
  AssemblyUpload.runAll(isOne ? {} : { packing }),
  Stream.runForEach(({ _tag, earlier }) => Effect.sync(() => process.send?.({ tag: _tag, earlier }))),
  Effect.provide(
    AssemblyUpload.layerJournaled.pipe(
      Layer.provide(journal),
      Layer.provideMerge(Emulated.signed({ baseUrl }, { key, secret: Redacted.make(secret) })),
      Layer.provideMerge(Journals.platform)
    )
  )
)

process.send?.("begin")
await Effect.runPromise(kind === "upload" ? upload : jobs)
process.disconnect()
