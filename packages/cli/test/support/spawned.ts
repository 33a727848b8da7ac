/** The command line in a process of its own, with only the given variables. */
import * as Effect from "effect/Effect"
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
 * - `started`: gets a function that interrupts the command, and the pipe of the standard output.
 */
export interface Options {
  readonly cwd?: string
  readonly env?: Env
  readonly node?: ReadonlyArray<string>
  readonly stdout?: number | "closed"
  readonly started?: (interrupt: () => void, stdout: Readable | null) => void
}

/** Runs a command to its end. It is killed when the test is interrupted. */
export const run = (args: ReadonlyArray<string>, { cwd, env, node = [], started, stdout }: Options = {}) =>
  Effect.callback<Ran>((resume) => {
    const child = spawn(process.execPath, [...node, bin, ...args], {
      cwd,
      env: { NO_COLOR: "1", PATH, ...compiled, ...env },
      stdio: ["ignore", typeof stdout === "number" ? stdout : "pipe", "pipe"]
    })
    const said = { stdout: "", stderr: "" }
    child.stdout?.on("data", (text: Buffer) => (said.stdout += text.toString()))
    child.stderr?.on("data", (text: Buffer) => (said.stderr += text.toString()))
    if (stdout === "closed") child.stdout?.destroy()
    child.on("close", (code) => resume(Effect.succeed({ code, ...said })))
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
