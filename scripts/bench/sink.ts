/**
 * A tus server that counts bytes and keeps none, in a process of its own. `SINK_RTT` (milliseconds) and `SINK_RATE`
 * (bytes a second and connection) make its link slow.
 */
import { createServer } from "node:http"
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net"

interface Upload {
  length: number | undefined
  offset: number
}

const uploads = new Map<string, Upload>()
let next = 0

const tus = { "tus-resumable": "1.0.0", "x-content-type-options": "nosniff" }

const server = createServer({ requestTimeout: 0, highWaterMark: 1024 * 1024 }, (request, response) => {
  const id = request.url?.split("/").at(-1) ?? ""
  const upload = uploads.get(id)
  const receive = (into: Upload, status: number, headers: Record<string, string>) => {
    request.on("data", (piece: Buffer) => {
      into.offset += piece.length
    })
    request.on("end", () => {
      const { offset } = into
      if (into.offset === into.length) uploads.delete(id)
      response.writeHead(status, { ...tus, ...headers, "upload-offset": String(offset) }).end()
    })
  }
  switch (request.method) {
    case "POST": {
      const length = request.headers["upload-length"]
      const created: Upload = { length: length === undefined ? undefined : Number(length), offset: 0 }
      const name = String(next++)
      uploads.set(name, created)
      return receive(created, 201, { location: `/resumable/files/${name}` })
    }
    case "HEAD":
      return void response.writeHead(200, { ...tus, "upload-offset": String(upload?.offset ?? 0) }).end()
    case "PATCH": {
      const length = request.headers["upload-length"]
      if (upload !== undefined && length !== undefined) upload.length = Number(length)
      return receive(upload ?? { length: undefined, offset: 0 }, 204, {})
    }
    default:
      return void response.writeHead(204, tus).end()
  }
})

/** Passes bytes on after a delay, and no faster than the rate. */
const throttle = (from: Socket, to: Socket, delay: number, rate: number) => {
  let free = 0
  let waiting = 0
  from.on("data", (piece) => {
    const now = performance.now()
    free = Math.max(free, now) + (piece.length / rate) * 1000
    waiting += piece.length
    // What is on its way is bounded by the rate and the delay, as on a real link.
    if (waiting > Math.max(256 * 1024, (rate * delay) / 500)) from.pause()
    setTimeout(
      () => {
        waiting -= piece.length
        if (!to.destroyed) to.write(piece)
        if (from.isPaused()) from.resume()
      },
      free - now + delay
    )
  })
  from.on("error", () => to.destroy())
  from.on("close", () => setTimeout(() => to.end(), delay * 4))
}

const report = (port: number) => process.send?.({ port })

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  const rtt = Number(process.env["SINK_RTT"] ?? 0)
  if (rtt === 0) return report(port)
  const rate = Number(process.env["SINK_RATE"])
  const link = createTcpServer((client) => {
    const inner = connect(port, "127.0.0.1")
    throttle(client, inner, rtt / 2, rate)
    throttle(inner, client, rtt / 2, rate * 100)
  })
  link.listen(0, "127.0.0.1", () => report((link.address() as AddressInfo).port))
})
