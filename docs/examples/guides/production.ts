import * as Budget from "@assembly-effect/api/Budget"
import { AssemblyNode } from "@assembly-effect/node"
import { AssemblyUpload, Upload, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"

const upload = (path: string) =>
  AssemblyUpload.run({
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source: UploadSource.fromPath(path), filename: path }],
    // SIGTERM cancels the Assembly. Without this option the Assembly waits for its files until it expires.
    cancelOnInterrupt: true,
    wait: { timeout: "15 minutes" }
  })

const program = Effect.gen(function* () {
  // The number of concurrent uploads determines the memory use and the number of connections.
  const statuses = yield* Effect.forEach(["letter.txt", "letter.txt"], upload, { concurrency: 4 })
  yield* Console.log(statuses.map(({ ok }) => ok).join(", "))
})

const live = AssemblyNode.layerConfig().pipe(
  // In ten seconds.
  Layer.provideMerge(Budget.layer({ requests: 200 })),
  Layer.provideMerge(Upload.layerBandwidth({ bytesPerSecond: 10_000_000 }))
)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
