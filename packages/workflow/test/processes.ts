/** Runners in separate processes. */
import { Effect } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import type { Orders, Report } from "./fixtures/runner.ts"

/** A runner in a separate process. `gone` waits for its end. */
export interface Process {
  readonly child: ChildProcess
  /** Waits for a report. Dies if the process ends without it. */
  readonly report: (is: (report: Report) => boolean) => Effect.Effect<Report>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly gone: Effect.Effect<void>
}

/** Starts a runner, which is killed when the scope closes. */
export const runner = (orders: Orders) =>
  Effect.acquireRelease(
    Effect.sync((): Process => {
      const child = fork(new URL("fixtures/runner.ts", import.meta.url), [JSON.stringify(orders)], { execArgv: [] })
      const reports: Array<Report> = []
      const watchers = new Set<() => void>()
      const tell = () => {
        for (const watcher of watchers) watcher()
      }
      child.on("message", (report: Report) => {
        reports.push(report)
        tell()
      })
      let ended = false
      child.once("exit", () => {
        ended = true
        tell()
      })
      /** Waits until `look` returns an Effect, and runs it. */
      const until = <A>(look: () => Effect.Effect<A> | undefined): Effect.Effect<A> =>
        Effect.callback<A>((resume) => {
          const watcher = () => {
            const found = look()
            if (found === undefined) return
            watchers.delete(watcher)
            resume(found)
          }
          watchers.add(watcher)
          watcher()
          return Effect.sync(() => watchers.delete(watcher))
        })
      const gone = until(() => (ended ? Effect.void : undefined))
      return {
        child,
        gone,
        report: (is) =>
          until(() => {
            const found = reports.find(is)
            if (found !== undefined) return Effect.succeed(found)
            return ended ? Effect.die(new Error("the runner ended")) : undefined
          }),
        kill: (signal) =>
          Effect.andThen(
            Effect.sync(() => child.kill(signal)),
            gone
          )
      }
    }),
    ({ kill }) => kill("SIGKILL")
  )
