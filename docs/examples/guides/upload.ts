import * as Results from "@assembly-effect/api/Results"
import { AssemblyNode } from "@assembly-effect/node"
import { AssemblyUpload, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"

const program = Effect.gen(function* () {
  const status = yield* AssemblyUpload.run({
    params: {
      steps: {
        ":original": { robot: "/upload/handle" },
        stored: { use: ":original", robot: "/transloadit/store" }
      }
    },
    files: [{ source: UploadSource.fromPath("letter.txt"), filename: "letter.txt" }]
  })
  yield* Console.log(`the Assembly has ended with ${status.ok}`)

  for (const file of Results.of(status).get("stored") ?? []) {
    const { path, size } = yield* Results.save(file, "copy.txt")
    yield* Console.log(`${path} has ${size} bytes`)
  }
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
