import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import { AssemblyUpload, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Stream } from "effect"

const program = Effect.gen(function* () {
  // createAssembly({ params, files, waitForCompletion: true })
  const status = yield* AssemblyUpload.run({
    params: { templateId: "my-template", fields: { album: "cats" } },
    files: [{ source: UploadSource.fromPath("letter.txt"), filename: "letter.txt" }]
  })

  // getAssembly(id)
  const again = yield* Assemblies.get(status.assembly_id)
  yield* Console.log(`${again.ok}, ${again.uploads?.[0]?.name}`)

  // streamAssemblies({ fromdate })
  const fromDate = DateTime.subtract(yield* DateTime.now, { hours: 1 })
  const first = yield* Assemblies.listAll({ fromDate }).pipe(Stream.take(1), Stream.runCollect)
  yield* Console.log(first[0]?.id === status.assembly_id ? "the newest is first" : "another Assembly")

  // error.code === "TEMPLATE_NOT_FOUND"
  const refused = yield* Assemblies.create({ templateId: "no-such-template" }).pipe(
    Effect.as("created"),
    Effect.catchTag("ServiceFailure", ({ code }) => Effect.succeed(code))
  )
  yield* Console.log(refused)
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
