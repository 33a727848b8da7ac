/**
 * Runs programs.
 */
import { type ChildProcess, execFile } from "node:child_process"

export interface Outcome {
  readonly exitCode: number
  readonly output: string
}

export interface Place {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Runs a program. The output contains stdout and then stderr. */
export const run = (file: string, args: ReadonlyArray<string>, { cwd, env }: Place): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile(
      file,
      args,
      { cwd, env: { ...process.env, ...env }, maxBuffer: 256 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ exitCode: error === null ? 0 : Number(error.code) || 1, output: stdout + stderr })
    )
  })

/** Runs a program, and fails if its exit code is not 0. */
export const runOrFail = async (file: string, args: ReadonlyArray<string>, place: Place): Promise<string> => {
  const { exitCode, output } = await run(file, args, place)
  if (exitCode !== 0) throw new Error(`${[file, ...args].join(" ")}: exit code ${exitCode}\n${output}`)
  return output
}

/** Waits until the output of a program matches, and returns the output. Fails if the program ends before. */
export const said = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    const hear = (piece: Buffer) => {
      text += piece.toString()
      if (pattern.test(text)) resolve(text)
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", hear)
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${text}`)))
  })

/** Ends a program that was started with `detached: true`, and the programs that it started. */
export const end = async (child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once("close", resolve))
  process.kill(-child.pid, signal)
  await ended
}
