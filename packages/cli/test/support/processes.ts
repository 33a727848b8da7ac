/**
 * The command line with the variables of the emulator.
 */
import { Emulator } from "@assembly-effect/emulator"
import { Effect, Redacted } from "effect"
import * as InProcess from "./inProcess.ts"
import * as Spawned from "./spawned.ts"

/** Runs the command line in the process of the test, in a folder, with only these variables. */
export const assembly = (cwd: string, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  InProcess.assembly(cwd, env, args)

/** Runs the command line in a process of its own, as {@link assembly} does otherwise. */
export const spawned = (cwd: string, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Spawned.run(args, { cwd, env })

export { folderWith } from "./uploading.ts"

/** The variables of the emulator. */
export const environment = Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) => ({
  ASSEMBLY_BASE_URL: baseUrl,
  ASSEMBLY_AUTH_KEY: credentials.key,
  ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
}))
