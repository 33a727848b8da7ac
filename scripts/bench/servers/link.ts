/** The link to a server: `SINK_RTT` (milliseconds) and `SINK_RATE` (bytes a second for each connection) make it slow. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net"

/** Forwards bytes after a delay, in order and not faster than the rate. */
const throttle = (from: Socket, to: Socket, delay: number, rate: number) => {
  const queue: Array<{ readonly piece: Buffer; readonly due: number }> = []
  // The rate and the delay limit the bytes in flight, as on a real link.
  const most = Math.max(256 * 1024, (rate * delay) / 500)
  let free = 0
  let waiting = 0
  let ended = false
  const pass = () => {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const left = first.due - performance.now()
      if (left > 0) return void setTimeout(pass, left)
      queue.shift()
      waiting -= first.piece.length
      if (!to.destroyed) to.write(first.piece)
      if (from.isPaused() && waiting <= most) from.resume()
    }
    if (ended) to.end()
  }
  from.on("data", (piece: Buffer) => {
    const now = performance.now()
    free = Math.max(free, now) + (piece.length / rate) * 1000
    waiting += piece.length
    if (waiting > most) from.pause()
    if (queue.push({ piece, due: free + delay }) === 1) pass()
  })
  from.on("error", () => to.destroy())
  from.on("close", () => {
    ended = true
    if (queue.length === 0) to.end()
  })
}

const report = (port: number) => process.send?.({ port })

/** Starts a server, and reports the port of its link. */
export const listen = (server: Server): void => {
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    const rtt = Number(process.env["SINK_RTT"] ?? 0)
    if (rtt === 0) return report(port)
    const rate = Number(process.env["SINK_RATE"])
    const link = createServer({ noDelay: true }, (client) => {
      const inner = connect({ port, host: "127.0.0.1", noDelay: true })
      throttle(client, inner, rtt / 2, rate)
      throttle(inner, client, rtt / 2, rate * 100)
    })
    link.listen(0, "127.0.0.1", () => report((link.address() as AddressInfo).port))
  })
}
