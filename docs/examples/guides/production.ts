import * as Guard from "@assembly-effect/api/Guard"
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

const live = Layer.mergeAll(
  Guard.layerRateLimiter({ limit: 20, window: "1 second" }),
  Upload.layerBandwidth({ bytesPerSecond: 10_000_000 })
).pipe(Layer.provideMerge(AssemblyNode.layerConfig()))

program.pipe(Effect.provide(live), NodeRuntime.runMain)
