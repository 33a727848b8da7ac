/**
 * A process that sends a file in a form with a journal, or several files in packs, and reports its start and each
 * outcome. The parent kills it in between. Arguments: the URL of the service, the Auth Key, its secret, the folder of the
 * journal, the paths of the files.
 */
import { AssemblyUpload, UploadJournal, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as Emulated from "./Emulated.ts"

const [baseUrl = "", key = "", secret = "", journal = "", ...paths] = process.argv.slice(2)

const isOne = paths.length === 1

const jobs = Stream.fromIterable(paths).pipe(
  Stream.map((path) => ({
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source: UploadSource.fromPath(path), filename: "a.bin" }],
    wait: { interval: "20 millis" } as const,
    ...(isOne ? ({ transport: "form", resend: true } as const) : {})
  }))
)

const packing = { files: 8, within: "50 millis", repeatable: true } as const

const program = Stream.suspend(() => {
  process.send?.("begin")
  return AssemblyUpload.runAll(jobs, isOne ? {} : { packing })
}).pipe(
  Stream.runForEach(({ _tag, earlier }) => Effect.sync(() => process.send?.({ tag: _tag, earlier }))),
  Effect.provide(
    AssemblyUpload.layerJournaled.pipe(
      Layer.provide(UploadJournal.layerFileSystem(journal, { leaseDuration: "2 seconds" })),
      Layer.provideMerge(Emulated.signed({ baseUrl }, { key, secret: Redacted.make(secret) })),
      Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeHttpClient.layerUndici))
    )
  )
)

await Effect.runPromise(program)
process.disconnect()
