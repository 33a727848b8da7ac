/**
 * A process that uploads a file with a journal and reports its start and end. The parent kills it in between.
 */
import { Upload, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer } from "effect"

const [tusUrl = "", assemblySslUrl = "", path = "", journal = "", parallel = "1"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const target = yield* UploadTarget.make({ tusUrl, assemblySslUrl })
  const source = yield* UploadSource.fromPath(path)
  process.send?.("begin")
  return yield* Upload.run(target, source, {
    metadata: { filename: "a.bin", fieldname: "file" },
    retryDelay: "5 millis",
    chunkSize: 256 * 1024,
    parallel: Number(parallel)
  })
}).pipe(
  Effect.provide(
    Upload.layerJournaled.pipe(
      Layer.provide(UploadJournal.layerFileSystem(journal, { leaseDuration: "2 seconds" })),
      Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeHttpClient.layerUndici))
    )
  ),
  Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "complete" })
)

process.send?.(await Effect.runPromise(program), () => process.exit(0))
