/**
 * Runs programs until they end.
 */
import { execFile } from "node:child_process"

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
