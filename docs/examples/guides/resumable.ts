import { AssemblyNode } from "@assembly-effect/node"
import { AssemblyUpload, AssemblyUploadEvent, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Stream } from "effect"

const program = AssemblyUpload.events({
  params: { steps: { ":original": { robot: "/upload/handle" } } },
  files: [{ source: UploadSource.fromPath("video.bin"), filename: "video.bin" }],
  wait: { interval: "100 millis", timeout: "10 minutes" }
}).pipe(
  Stream.tap((event) => {
    switch (event._tag) {
      case "AssemblyCreated":
        return Console.log("a new Assembly")
      case "AssemblyResumed":
        return Console.log("the Assembly of an earlier run")
      default:
        return Effect.void
    }
  }),
  AssemblyUploadEvent.result,
  Effect.tap(({ ok, uploads }) => Console.log(`${ok}, ${uploads?.[0]?.size} bytes`))
)

const live = AssemblyNode.layerJournaled("journal", { expiry: "7 days" }).pipe(
  Layer.provideMerge(AssemblyNode.layerConfig())
)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
