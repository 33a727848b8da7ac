import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

/**
 * Runs the command line in a folder, as a user does. `input` is its standard input, or `redirection` redirects it as in a
 * shell. `env` adds variables to its environment.
 */
export const assembly = Effect.fnUntraced(function* (
  cwd: string,
  args: ReadonlyArray<string>,
  options: {
    readonly input?: string | undefined
    readonly redirection?: string | undefined
    readonly state?: string | undefined
    readonly env?: Readonly<Record<string, string>> | undefined
    readonly onOutput?: ((stdout: string) => void) | undefined
    readonly onError?: ((stderr: string, kill: (signal?: NodeJS.Signals) => void) => void) | undefined
  } = {}
) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const env = {
    ...process.env,
    // The program prints commands as a user of npm or pnpm types them. The tests may run in a script of both.
    npm_execpath: "",
    ASSEMBLY_BASE_URL: baseUrl,
    ASSEMBLY_AUTH_KEY: credentials.key,
    ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret),
    XDG_STATE_HOME: options.state ?? `${cwd}/.state`,
    ...options.env
  }
  return yield* Effect.promise(
    (interrupted) =>
      new Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }>((resolve) => {
        const program = [process.execPath, bin, ...args]
        const [file = "", ...rest] =
          options.redirection === undefined
            ? program
            : ["sh", "-c", `exec "$@" ${options.redirection}`, "sh", ...program]
        const child = spawn(file, rest, { cwd, env, stdio: "pipe" })
        let stdout = ""
        let stderr = ""
        let isKilled = false
        interrupted.addEventListener("abort", () => child.kill())
        child.stdout.on("data", (text: Buffer) => {
          stdout += text.toString()
          options.onOutput?.(stdout)
        })
        child.stderr.on("data", (text: Buffer) => {
          stderr += text.toString()
          // A second signal would end the program at once.
          options.onError?.(stderr, (signal = "SIGINT") => (isKilled ||= child.kill(signal)))
        })
        child.on("close", (code) => resolve({ stdout, stderr, code }))
        if (options.input !== undefined) child.stdin.end(options.input)
      })
  )
})

export const live = Layer.mergeAll(Emulator.layer(), NodeServices.layer)

/** Runs `assembly upload`. */
export const upload = (cwd: string, args: ReadonlyArray<string>, options?: Parameters<typeof assembly>[2]) =>
  assembly(cwd, ["upload", ...args], options)

/** A file that is too large to be sent with the creation of its upload. */
export const large = { "a.bin": "meow".repeat(100_000) }

/** The id in the line about an Assembly. */
export const created = /Assembly ([0-9a-f]{32})\n/

/** Presses Ctrl-C as soon as the pattern is on the standard error. */
export const quitAt = (pattern: RegExp, signal?: NodeJS.Signals) => ({
  onError: (text: string, kill: (signal?: NodeJS.Signals) => void) => {
    if (pattern.test(text)) kill(signal)
  }
})

/** A folder with these files. */
export const folderWith = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  for (const [name, text] of Object.entries(files)) {
    yield* fs.makeDirectory(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true })
    yield* fs.writeFileString(`${folder}/${name}`, text)
  }
  return folder
})
