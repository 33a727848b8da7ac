import * as Effect from "effect/Effect"
import { fork } from "node:child_process"
import * as Harness from "./harness.ts"

/** The memory of a process in MiB, see `memory.ts`. `rest` is the memory without V8's young generation. */
export interface Memory {
  readonly idle: number
  readonly peak: number
  readonly restPeak: number
  readonly slope?: number
  readonly restSlope?: number
  readonly left?: number
  readonly sha256?: string
  readonly rate?: number
}

/** Runs a task of `memory.ts` in a separate process. */
export const memory = (
  work: string,
  args: ReadonlyArray<string | number>,
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<Memory, Harness.BenchError> =>
  Effect.callback((resume) => {
    const child = fork(new URL("memory.ts", import.meta.url), [work, ...args.map(String)], {
      execArgv: ["--expose-gc"],
      env: { ...process.env, ...env }
    })
    child.once("message", (message) => resume(Effect.succeed(message as Memory)))
    child.once("exit", (code) => resume(Effect.fail(new Harness.BenchError(`${work} ended with ${code}`))))
    return Effect.sync(() => child.kill("SIGKILL"))
  })
