import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Schedule } from "effect"

const program = Effect.gen(function* () {
  const fromDate = DateTime.subtract(yield* DateTime.now, { hours: 1 })

  // A user waits: no retry, at most five seconds.
  const { count } = yield* Assemblies.list({ fromDate }).pipe(
    RetryPolicy.none,
    AssemblyClient.withDeadline("5 seconds")
  )
  yield* Console.log(typeof count)

  // A nightly job has time: one attempt a minute for an hour.
  const patiently = RetryPolicy.withPolicy(Schedule.spaced("1 minute").pipe(Schedule.upTo({ times: 60 })))
  const statistics = yield* Assemblies.statistics({ region: "all", since: fromDate }).pipe(patiently)
  yield* Console.log(typeof statistics.totalAssemblies)

  // An upload counts consecutive failures, so progress resets the count.
  const assembly = yield* Assemblies.create({
    steps: { ":original": { robot: "/upload/handle" } },
    numExpectedUploadFiles: 1
  })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const { length } = yield* Upload.run(target, yield* UploadSource.fromPath("letter.txt"), {
    metadata: { filename: "letter.txt", fieldname: "file" },
    stallTimeout: "10 seconds",
    maxRetries: 20
  })
  yield* Console.log(`${length} bytes`)
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
