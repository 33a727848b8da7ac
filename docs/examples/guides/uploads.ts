import { AssemblyNode } from "@assembly-effect/node"
import { AssemblyUpload, AssemblyUploadEvent, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Stream } from "effect"

// The rows of a database, one JSON object on each line.
const rows = Stream.range(1, 1000).pipe(
  Stream.map((id) => `${JSON.stringify({ id })}\n`),
  Stream.encodeText
)

const files = [
  // A file is read in pieces. After a failure, the missing bytes are read again.
  { source: UploadSource.fromPath("video.bin"), filename: "video.bin" },
  // A Stream is read once, so the bytes without an acknowledgment stay in memory.
  { source: UploadSource.fromStream(rows), filename: "rows.jsonl" }
]

const program = AssemblyUpload.events({
  params: { steps: { ":original": { robot: "/upload/handle" } } },
  files,
  // One upload after the other.
  concurrency: 1
}).pipe(
  Stream.tap((event) => {
    switch (event._tag) {
      case "AssemblyCreated":
        return Console.log("the Assembly exists")
      case "FileCompleted":
        return Console.log(`${files[event.file]?.filename}: ${event.length} bytes`)
      case "Uploaded":
        return Console.log("every file is stored")
      default:
        return Effect.void
    }
  }),
  AssemblyUploadEvent.result,
  Effect.tap(({ ok }) => Console.log(`${ok}`))
)

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
