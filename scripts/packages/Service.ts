/**
 * Runs a command that does not end, such as `assembly emulator`, until it prints that it runs.
 */
import { spawn } from "node:child_process"
import type { Place } from "./Command.ts"

export interface Service {
  readonly printed: string
  /** The environment variables that the command prints for its clients. */
  readonly env: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

export const start = (command: string, { cwd, env }: Place): Promise<Service> => {
  // A group of its own, because npx does not pass on signals.
  const child = spawn("sh", ["-c", command], {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGTERM")
    await ended
  }
  return new Promise((resolve, reject) => {
    let printed = ""
    let errors = ""
    child.stderr.on("data", (text: Buffer) => {
      errors += text
    })
    child.stdout.on("data", (text: Buffer) => {
      printed += text
      if (!printed.includes("Running")) return
      const lines = printed.matchAll(/^export (\w+)=(.*)$/gm)
      resolve({ printed, stop, env: Object.fromEntries(Array.from(lines, ([, name, value]) => [name, value])) })
    })
    child.once("exit", (code) => reject(new Error(`${command}: exit code ${code}\n${printed}${errors}`)))
  })
}
