import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

/** What a process of `assembly emulator` says first, and its end. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly said: string; readonly interrupt: Effect.Effect<number | null> }>((resume) => {
      const child = spawn(process.execPath, [bin, "emulator", ...args], { env: { NO_COLOR: "1" } })
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
      const interrupt = Effect.promise(() => {
        child.kill("SIGINT")
        return ended
      })
      let said = ""
      const hear = (text: Buffer) => {
        said += String(text)
        if (said.includes("\n#") || said.startsWith("assembly:")) resume(Effect.succeed({ said, interrupt }))
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
    }),
    ({ interrupt }) => interrupt
  )

/** The environment that the command prints. */
const environment = (said: string) =>
  Object.fromEntries([...said.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]))

it.live("assembly emulator: its environment is all that a client needs, and Templates come from a file", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const steps = { fail: { robot: "/emulator/fail", error: "FROM_FILE" } }
    yield* fs.writeFileString(`${folder}/templates.json`, JSON.stringify([{ id: "one", content: { steps } }]))
    const { interrupt, said } = yield* run("--data", `${folder}/data`, "--templates", `${folder}/templates.json`)

    const status = yield* Assemblies.create({ templateId: "one" }).pipe(
      Effect.provide(
        AssemblyClient.layerConfig.pipe(
          Layer.provide(Authenticator.layerSigned()),
          Layer.provide([Credentials.layerConfig, FetchHttpClient.layer])
        )
      ),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment(said)))
    )
    assert.strictEqual(status.error, "FROM_FILE")
    yield* interrupt
    assert.isTrue(yield* fs.exists(`${folder}/data/emulator.sqlite`))

    yield* fs.writeFileString(`${folder}/templates.json`, `[{ "id": "all", "content": {} }]`)
    const refused = yield* run("--templates", `${folder}/templates.json`)
    assert.match(refused.said, /^assembly: .*templates\.json: .*an id that statistics do not reserve/)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
