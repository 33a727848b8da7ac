/**
 * Runs a command that does not end, such as `assembly emulator`, until it prints that it runs.
 */
import { spawn } from "node:child_process"
import * as Command from "../Command.ts"

export type Service = Awaited<ReturnType<typeof start>>

export const start = async (command: string, { cwd, env }: Command.Place) => {
  // A group of its own, because npx does not pass on signals.
  const child = spawn("sh", ["-c", command], {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const printed = await Command.said(child, /Running/)
  const lines = printed.matchAll(/^export (\w+)=(.*)$/gm)
  return {
    printed,
    /** The environment variables that the command prints for its clients. */
    env: Object.fromEntries(Array.from(lines, ([, name = "", value = ""]) => [name, value])),
    stop: () => Command.end(child, "SIGTERM")
  }
}
