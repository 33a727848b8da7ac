import { Emulator } from "@assembly-effect/emulator"
import { Effect, Redacted, Stream } from "effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Spawned from "./spawned.ts"

/** Runs a program of the documentation in a folder, with the variables of the embedded service and `env`. */
export const run = Effect.fnUntraced(function* (program: string, cwd: string, env?: Readonly<Record<string, string>>) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const child = yield* ChildProcess.make(process.execPath, [program], {
    cwd,
    env: {
      ASSEMBLY_BASE_URL: baseUrl,
      ASSEMBLY_AUTH_KEY: credentials.key,
      ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret),
      ...Spawned.compiled,
      ...env
    },
    extendEnv: true
  })
  const output = yield* Stream.mkString(Stream.decodeText(child.all))
  return { output, exitCode: yield* child.exitCode }
})
