/** The command line in a process of its own, with only the given variables. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

export const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

const { PATH = "" } = process.env

/** Processes of all tests share compiled modules, so that all but the first start faster. */
export const compiled = { NODE_COMPILE_CACHE: `${tmpdir()}/assembly-effect-compiled` }

type Env = Readonly<Record<string, string>>

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * - `node`: arguments for Node.
 * - `stdout`: a file for the standard output, or `closed` for a pipe whose reader has ended.
 * - `input`: the standard input, or `redirection` redirects it as in a shell. Without both, it is empty.
 * - `started`: gets a function that interrupts the command, and the pipe of the standard output.
 * - `onError`: gets what is on the standard error, and a function that sends a signal once, SIGINT by default.
 */
export interface Options {
  readonly cwd?: string
  readonly env?: Env
  readonly node?: ReadonlyArray<string>
  readonly stdout?: number | "closed"
  readonly input?: string
  readonly redirection?: string
  readonly started?: (interrupt: () => void, stdout: Readable | null) => void
  readonly onError?: (stderr: string, kill: (signal?: NodeJS.Signals) => void) => void
}

/** Runs a command to its end. It is killed when the test is interrupted. */
export const run = (args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.callback<Ran>((resume) => {
    const { cwd, env, input, node = [], onError, redirection, started, stdout } = options
    const program = [process.execPath, ...node, bin, ...args]
    const [file = "", ...rest] =
      redirection === undefined ? program : ["sh", "-c", `exec "$@" ${redirection}`, "sh", ...program]
    const isOpen = input !== undefined || redirection !== undefined || onError !== undefined
    const child = spawn(file, rest, {
      cwd,
      env: { NO_COLOR: "1", PATH, ...compiled, ...env },
      stdio: [isOpen ? "pipe" : "ignore", typeof stdout === "number" ? stdout : "pipe", "pipe"]
    })
    const said = { stdout: "", stderr: "" }
    let isKilled = false
    child.stdout?.on("data", (text: Buffer) => (said.stdout += text.toString()))
    child.stderr?.on("data", (text: Buffer) => {
      said.stderr += text.toString()
      // A second signal would end the program at once.
      onError?.(said.stderr, (signal = "SIGINT") => (isKilled ||= child.kill(signal)))
    })
    if (stdout === "closed") child.stdout?.destroy()
    child.on("close", (code) => resume(Effect.succeed({ code, ...said })))
    if (input !== undefined) child.stdin?.end(input)
    started?.(() => child.kill("SIGINT"), child.stdout)
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

/** Runs `assembly emulator` until the end of the scope. Returns its first output, and what ends it with a signal. */
export const emulator = (env: Env, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly said: string
      readonly end: (signal: NodeJS.Signals) => Effect.Effect<number | null>
      readonly interrupt: Effect.Effect<number | null>
    }>((resume) => {
      const child = spawn(process.execPath, [bin, "emulator", ...args], { env: { NO_COLOR: "1", ...compiled, ...env } })
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
      const end = (signal: NodeJS.Signals) =>
        Effect.promise(() => {
          child.kill(signal)
          return ended
        })
      const interrupt = end("SIGINT")
      let said = ""
      const hear = (text: Buffer) => {
        said += String(text)
        if (said.includes("\n#") || said.startsWith("assembly:")) resume(Effect.succeed({ said, end, interrupt }))
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
    }),
    ({ interrupt }) => interrupt
  )
