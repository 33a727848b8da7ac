import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Stream } from "effect"

const program = Effect.gen(function* () {
  const fromDate = DateTime.subtract(yield* DateTime.now, { hours: 1 })
  yield* Assemblies.listAll({ fromDate }).pipe(
    Stream.runForEach(({ num_input_files, ok }) => Console.log(`${ok}, files: ${num_input_files}`))
  )
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
