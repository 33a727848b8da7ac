/** Runners in separate processes, and a proxy that counts the bytes that they send. */
import * as Effect from "effect/Effect"
import { type ChildProcess, fork } from "node:child_process"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { Orders, Report } from "./fixtures/runner.ts"

/** A proxy between runners and the emulator. It counts the bytes of the runners. */
interface Front {
  readonly origin: string
  /** The bytes that runners have sent. */
  readonly sent: () => number
  /** Sets the port that new connections are forwarded to. */
  readonly to: (port: number) => void
  /** Waits until runners have sent this many bytes. */
  readonly reached: (bytes: number) => Effect.Effect<void>
}

/** Serves the proxy until the scope closes. */
export const front = Effect.gen(function* () {
  let sent = 0
  let port = 0
  const sockets = new Set<Socket>()
  const watchers = new Set<() => void>()
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1")
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      socket.on("error", () => socket.destroy())
    }
    client.on("data", (piece) => {
      sent += piece.length
      for (const watcher of watchers) watcher()
    })
    client.pipe(upstream)
    upstream.pipe(client)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    to: (to) => {
      port = to
    },
    reached: (bytes) =>
      Effect.callback<void>((resume) => {
        const watcher = () => {
          if (sent < bytes) return
          watchers.delete(watcher)
          resume(Effect.void)
        }
        watchers.add(watcher)
        watcher()
        return Effect.sync(() => watchers.delete(watcher))
      })
  } satisfies Front
})

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
