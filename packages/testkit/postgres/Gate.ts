/** A TCP proxy in front of a database: it can cut every connection, and refuse new ones, as a failover does. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

interface Gate {
  /** The URL of the database behind the proxy. */
  readonly url: Redacted.Redacted
  readonly close: Effect.Effect<void>
  readonly open: Effect.Effect<void>
}

/** Listens until the scope ends. */
export const make = Effect.fnUntraced(function* (database: Redacted.Redacted) {
  const to = new URL(Redacted.value(database))
  const sockets = new Set<Socket>()
  let isOpen = true
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const listening = createServer((client) => {
        if (!isOpen) return void client.destroy()
        const inner = connect({ host: to.hostname, port: Number(to.port) })
        for (const [socket, other] of [
          [client, inner],
          [inner, client]
        ] as const) {
          sockets.add(socket)
          socket.on("error", () => other.destroy())
          socket.on("close", () => {
            sockets.delete(socket)
            other.destroy()
          })
          socket.pipe(other)
        }
      }).listen(0, "127.0.0.1")
      await once(listening, "listening")
      return listening
    }),
    (listening) =>
      Effect.sync(() => {
        listening.close()
        cut()
      })
  )
  const url = new URL(to)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: Redacted.make(url.href),
    close: Effect.sync(() => {
      isOpen = false
      cut()
    }),
    open: Effect.sync(() => {
      isOpen = true
    })
  } satisfies Gate
})
