/**
 * A TCP proxy with a slow link, which can go down, or stall as a laptop does that is closed.
 */
import * as Net from "node:net"

/**
 * - `up`: bytes go through, at the rate of the link.
 * - `stalled`: connections stay open, and nothing goes through them, also later. New ones are not answered.
 * - `down`: connections are reset, and new ones as well.
 */
type State = "up" | "stalled" | "down"

export interface Proxy {
  readonly port: number
  readonly setTarget: (port: number) => void
  /** Connections that stalled are reset when the link is up again, as a server or a router does. */
  readonly set: (state: State) => void
  /** The bytes that clients have sent through. */
  readonly sent: () => number
  readonly close: () => void
}

/** Starts a proxy whose clients send at most so many bytes a second. */
export const start = async (rate: number): Promise<Proxy> => {
  let target = 0
  let state: State = "up"
  let sent = 0
  const clients = new Set<Net.Socket>()
  const stalled = new Set<Net.Socket>()
  /** When the link has sent what came so far. */
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
