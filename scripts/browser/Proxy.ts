/**
 * A TCP proxy with a slow link. The link can go down, or stall like the connection of a closed laptop.
 */
import * as Net from "node:net"

/**
 * - `up`: bytes are forwarded at the rate of the link.
 * - `stalled`: connections stay open, but never forward bytes again. New connections get no response.
 * - `down`: existing and new connections are reset.
 */
type State = "up" | "stalled" | "down"

export interface Proxy {
  readonly port: number
  readonly setTarget: (port: number) => void
  /** Sets the state. The state `up` resets stalled connections, as a server or a router would do. */
  readonly set: (state: State) => void
  /** The number of forwarded bytes from clients. */
  readonly sent: () => number
  readonly close: () => void
}

/** Starts a proxy that forwards at most `rate` bytes per second from its clients. */
export const start = async (rate: number): Promise<Proxy> => {
  let target = 0
  let state: State = "up"
  let sent = 0
  const clients = new Set<Net.Socket>()
  const stalled = new Set<Net.Socket>()
  /** The time at which the link will have sent all bytes received so far. */
  let freeAt = 0

  const server = Net.createServer((client) => {
    client.on("error", () => {})
    if (state === "down") return client.resetAndDestroy()
    clients.add(client)
    if (state === "stalled") return stalled.add(client)
    const upstream = Net.connect(target, "127.0.0.1")
    upstream.on("error", () => client.destroy())
    upstream.on("close", () => client.destroy())
    client.on("close", () => {
      clients.delete(client)
      upstream.destroy()
    })
    client.on("data", (bytes) => {
      if (stalled.has(client)) return
      client.pause()
      freeAt = Math.max(freeAt, Date.now()) + (bytes.length / rate) * 1000
      setTimeout(
        () => {
          if (stalled.has(client)) return
          sent += bytes.length
          upstream.write(bytes)
          client.resume()
        },
        Math.max(0, freeAt - Date.now())
      )
    })
    upstream.on("data", (bytes) => {
      if (!stalled.has(client)) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))

  return {
    port: (server.address() as Net.AddressInfo).port,
    setTarget: (port) => (target = port),
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
    close: () => {
      for (const client of clients) client.destroy()
      server.close()
    }
  }
}
