/** Stops and continues processes. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/** A process and its parent. */
type Family = readonly [pid: number, parent: number]

const processes = (): ReadonlyArray<Family> => {
  if (process.platform !== "linux") {
    const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    return table.split("\n").map((line) => {
      const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number)
      return [pid, parent]
    })
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): ReadonlyArray<Family> => {
      try {
        // The name of the program, in parentheses, may contain anything.
        const [, parent] = /^.*\) \S (\d+) /s.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? []
        return [[Number(name), Number(parent)]]
      } catch {
        return []
      }
    })
}

type Name = "SIGSTOP" | "SIGCONT"

const send = (name: Name, pid: number) => {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended in the meantime.
  }
}

/** Sends a signal to a process, and then to its children. */
export const family = (name: Name, pid: number): void => {
  send(name, pid)
  for (const [child, parent] of processes()) if (parent === pid) send(name, child)
}
