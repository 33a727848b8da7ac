/**
 * The command line in processes of their own.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const { PATH = "" } = process.env

/** Runs the command line in a folder, with only these variables. It is killed when the test is interrupted. */
export const assembly = (cwd: string, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.callback<Ran>((resume) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { cwd, env: { NO_COLOR: "1", PATH, ...env } },
      (_, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode, stdout, stderr }))
    )
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

export { folderWith } from "./uploading.ts"

/** The variables of the emulator. */
export const environment = Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) => ({
  ASSEMBLY_BASE_URL: baseUrl,
  ASSEMBLY_AUTH_KEY: credentials.key,
  ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
}))

export const toDotEnv = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n")
