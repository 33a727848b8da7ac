import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Stream } from "effect"

const program = Effect.gen(function* () {
  const since = DateTime.subtract(yield* DateTime.now, { days: 7 })

  // The codes of all failed Assemblies of a week. The Stream requests the next page while this page is handled.
  const codes = yield* Assemblies.listAll({ fromDate: since, type: "failed" }).pipe(
    Stream.runFold(
      () => new Map<string, number>(),
      (counts, { error }) => counts.set(error ?? "none", (counts.get(error ?? "none") ?? 0) + 1)
    )
  )
  yield* Console.log(`failures by code: ${JSON.stringify(Object.fromEntries(codes))}`)

  // One request, whatever the number of Assemblies is.
  const { totalAssemblies } = yield* Assemblies.statistics({ region: "all", since, templateId: "all" })
  yield* Console.log(totalAssemblies > 0 ? "there were Assemblies" : "there were none")
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
