import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"

const program = Effect.gen(function* () {
  const assembly = yield* Assemblies.create({ templateId: "my-template", numExpectedUploadFiles: 1 })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const source = yield* UploadSource.fromPath("cat.jpg")
  const { length } = yield* Upload.run(target, source, { metadata: { filename: "cat.jpg", fieldname: "file" } })
  yield* Console.log(`${length} bytes are stored`)
})

// ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET configure it.
program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
