import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyUpload, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"

const upload = (params: Assembly.CreateParams, path: string) =>
  AssemblyUpload.run({ params, files: [{ source: UploadSource.fromPath(path), filename: path }] }).pipe(
    Effect.as(`${path}: done`),
    Effect.catchTags({
      // The files could not be sent. Each file has its own error.
      FilesFailed: ({ files }) => Effect.succeed(files.map((file) => `${file.filename}: ${file.outcome}`).join(", ")),
      SourceFailed: ({ kind }) => Effect.succeed(`${path}: ${kind}`),
      // The service refused the request. `code` is the code of the service.
      ServiceFailure: ({ code }) => Effect.succeed(`refused with ${code}`),
      // The Assembly itself has failed.
      AssemblyFailed: ({ code }) => Effect.succeed(`the Assembly failed with ${code}`)
    })
  )

const program = Effect.gen(function* () {
  yield* Console.log(yield* upload({ templateId: "no-such-template" }, "letter.txt"))
  const steps = { ":original": { robot: "/upload/handle" } }
  yield* Console.log(yield* upload({ steps }, "no-such-file.txt"))

  // Invalid input is refused before anything is sent, with the field and its rule.
  const refused = yield* Effect.flip(Assemblies.create({ steps: { hashed: { robot: "/file/hash", use: "orignal" } } }))
  yield* Console.log(refused.message)
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
