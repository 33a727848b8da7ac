import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Authenticator } from "@assembly-effect/auth"
import { list } from "../src/commands/list.ts"
import { move } from "../src/commands/assets.ts"
import { token } from "../src/commands/keys.ts"
import { upload } from "../src/commands/upload.ts"
import * as Advice from "../src/internal/advice.ts"
import { Emulator, Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUpload } from "@assembly-effect/tus"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { ConfigProvider, Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { TestConsole } from "effect/testing"
import * as Service from "./support/service.ts"
import * as Failure from "../src/internal/failure.ts"

const services = Layer.mergeAll(Client.signed(), TestConsole.layer).pipe(
  Layer.provideMerge([Emulator.layer(), NodeHttpClient.layerUndici, NodeServices.layer])
)

/** The Assembly of an upload whose files failed. */
const assemblyOf = (error: unknown): Assembly.AssemblyId => {
  assert(error instanceof Failure.CommandError)
  const [cause] = error.causes ?? []
  assert(cause instanceof AssemblyUpload.FilesFailed)
  return Assembly.AssemblyId.make(cause.assemblyId)
}

layer(services)("the commands against the emulator", (it) => {
  it.effect("prints a token that lists Assemblies and does nothing else", function* () {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    yield* Service.run(token, ["--scope", "assemblies:read"]).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown({
          ASSEMBLY_BASE_URL: baseUrl,
          ASSEMBLY_AUTH_KEY: credentials.key,
          ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
        })
      )
    )
    const printed = Redacted.make(String((yield* TestConsole.logLines).at(-1)))
    const withToken = AssemblyClient.layer({ baseUrl }).pipe(Layer.provide(Authenticator.layerBearer(printed)))
    yield* Service.run(list, ["--json"]).pipe(Effect.provide(withToken))
    const error = yield* Effect.flip(Service.run(move, ["A".repeat(22), "--root"]).pipe(Effect.provide(withToken)))
    expect(error).toMatchObject({ _tag: "AuthenticationFailed", code: "INSUFFICIENT_AUTH_SCOPE" })
  })

  /** Uploads a file that the server refuses. Returns the arguments of the command, and its error. */
  const refused = Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(join(folder, "refused.txt"), "meow")
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Refuse({ method: "POST", path: "/resumable/files/", status: 403 }))
    const args = [join(folder, "refused.txt"), "--journal", join(folder, "state")]
    const error = yield* Effect.flip(Service.run(upload, args))
    return { args, error, id: assemblyOf(error) }
  })

  it.effect("keeps its Assembly when a file is refused, reports this, and continues it", function* () {
    const { args, error, id } = yield* refused
    expect(error).toMatchObject({ _tag: "CommandError", causes: [{ _tag: "FilesFailed" }] })
    expect(Advice.next(error)).toBe("The upload is kept; run the same command again to continue it.")
    expect((yield* Assemblies.get(id)).ok).toBe("ASSEMBLY_UPLOADING")

    yield* Service.run(upload, args)
    expect((yield* Assemblies.get(id)).ok).toBe("ASSEMBLY_COMPLETED")
  })

  it.effect("starts again with --restart, and cancels the unfinished upload", function* () {
    const { args, id } = yield* refused
    yield* Service.run(upload, [...args, "--restart"])
    expect((yield* Assemblies.get(id)).ok).toBe("ASSEMBLY_CANCELED")
  })
})
