/** Processes that are killed while they upload. */
import { Effect } from "effect"
import { fork } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that is deleted after the test. */
export const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "killed-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/**
 * Runs a process, and answers its messages. It is killed so many milliseconds after it said that it begins, or not at
 * all. With `sends`, the time starts when a request of the process has arrived.
 */
export const run = <Message>(
  script: URL,
  args: ReadonlyArray<string>,
  killAfter: number | undefined,
  sends: () => boolean = () => true
): Effect.Effect<ReadonlyArray<Message>> =>
  Effect.callback((resume) => {
    const child = fork(script, [...args], { execArgv: [] })
    const messages: Array<Message> = []
    const kill = () => {
      if (sends()) setTimeout(() => child.kill("SIGKILL"), killAfter)
      else if (child.exitCode === null) setTimeout(kill, 2)
    }
    child.on("message", (message: Message | "begin") => {
      if (message !== "begin") messages.push(message)
      else if (killAfter !== undefined) kill()
    })
    child.on("exit", () => resume(Effect.succeed(messages)))
  })
