/**
 * A TCP proxy with a link that can be slow, go down, or stall like the connection of a closed laptop.
 */
import { Effect } from "effect"
import * as Net from "node:net"
import * as Loopback from "./Loopback.ts"

/**
 * - `up`: bytes are forwarded at the rate of the link. Resets stalled connections, as a server or a router would do.
 * - `stalled`: connections stay open, but never forward bytes again. New connections get no response.
 * - `down`: existing and new connections are reset.
 */
type State = "up" | "stalled" | "down"

export interface TcpProxy {
  readonly port: number
  /** Sets the hosts and ports that new connections are forwarded to, one after another. */
  readonly to: (...urls: ReadonlyArray<string>) => void
  readonly set: (state: State) => void
  /** The number of forwarded bytes from clients. */
  readonly sent: () => number
  /** Waits until this number of bytes from clients was forwarded. */
  readonly reached: (bytes: number) => Effect.Effect<void>
}

/** Forwards until the scope ends, at most `rate` bytes per second from all clients. */
export const make = Effect.fnUntraced(function* (rate = Infinity) {
  let targets = [{ host: "127.0.0.1", port: 0 }]
  let connections = 0
  let state: State = "up"
  let sent = 0
  /** The time at which the link will have sent all bytes received so far. */
  let freeAt = 0
  const clients = new Set<Net.Socket>()
  const stalled = new Set<Net.Socket>()
  const watchers = new Set<() => void>()

  const port = yield* Loopback.listen(
    Net.createServer((client) => {
      if (state === "down") return void client.resetAndDestroy()
      clients.add(client)
      client.on("close", () => clients.delete(client))
      if (state === "stalled") return void stalled.add(client)
      const upstream = Net.connect(targets[connections++ % targets.length] ?? { port: 0 })
      upstream.on("error", () => client.destroy())
      upstream.on("close", () => client.destroySoon())
      upstream.on("drain", () => client.resume())
      upstream.on("data", (bytes) => {
        if (!stalled.has(client)) client.write(bytes)
      })
      client.on("close", () => upstream.destroySoon())
      client.on("data", (bytes) => {
        client.pause()
        const pass = () => {
          if (stalled.has(client)) return
          sent += bytes.length
          for (const watcher of watchers) watcher()
          if (upstream.write(bytes)) client.resume()
        }
        if (rate === Infinity) return pass()
        freeAt = Math.max(freeAt, Date.now()) + (bytes.length / rate) * 1000
        setTimeout(pass, Math.max(0, freeAt - Date.now()))
      })
    })
  )
  return {
    port,
    to: (...urls) => {
      targets = urls.map((url) => new URL(url)).map(({ hostname, port: number }) => ({ host: hostname, port: +number }))
    },
    set: (next) => {
      if (next === "stalled") for (const client of clients) stalled.add(client)
      if (next === "down") for (const client of clients) client.resetAndDestroy()
      if (next === "up") {
        for (const client of stalled) client.resetAndDestroy()
        stalled.clear()
      }
      state = next
    },
    sent: () => sent,
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
  } satisfies TcpProxy
})
