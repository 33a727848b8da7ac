import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import { Upload, UploadEvent, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Stream } from "effect"

const program = Effect.gen(function* () {
  const assembly = yield* Assemblies.create({
    steps: { ":original": { robot: "/upload/handle" } },
    numExpectedUploadFiles: 1
  })
  // `endpoint` and the metadata `assembly_url`
  const target = yield* UploadTarget.fromAssembly(assembly)
  const source = yield* UploadSource.fromPath("letter.txt")

  // `new Upload(file, options)`, `findPreviousUploads`, `resumeFromPreviousUpload` and `start`
  const { length } = yield* Upload.events(target, source, {
    metadata: { filename: "letter.txt", fieldname: "file" }
  }).pipe(
    Stream.tap((event) =>
      // `onProgress`
      event._tag === "Progress" ? Effect.logDebug(`${event.sent} of ${event.total}`) : Effect.void
    ),
    UploadEvent.result
  )
  yield* Console.log(`${length} bytes are stored`)
})

// `urlStorage`
const live = AssemblyNode.layerJournaled("uploads").pipe(Layer.provideMerge(AssemblyNode.layerConfig()))

program.pipe(Effect.provide(live), NodeRuntime.runMain)
