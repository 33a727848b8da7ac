/**
 * A tus server in a separate process that counts bytes and stores none. `SINK_RTT` (milliseconds) and `SINK_RATE`
 * (bytes a second for each connection) make its link slow.
 */
import { createServer } from "node:http"
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net"

interface Upload {
  length: number | undefined
  offset: number
  /** Whether a complete upload is kept: this is true for parts and for final uploads. */
  readonly kept: boolean
}

const idOf = (url: string | undefined) => url?.split("/").at(-1) ?? ""

const uploads = new Map<string, Upload>()
let next = 0

const tus = { "tus-resumable": "1.0.0", "x-content-type-options": "nosniff" }

const offered = {
  "tus-version": "1.0.0",
  "tus-extension": "creation,creation-with-upload,creation-defer-length,concatenation,termination"
}

const server = createServer({ requestTimeout: 0, highWaterMark: 1024 * 1024 }, (request, response) => {
  const id = idOf(request.url)
  const upload = uploads.get(id)
  const receive = (into: Upload, status: number, headers: Record<string, string>) => {
    request.on("data", (piece: Buffer) => {
      into.offset += piece.length
    })
    request.on("end", () => {
      const { offset } = into
      if (into.offset === into.length && !into.kept) uploads.delete(id)
      response.writeHead(status, { ...tus, ...headers, "upload-offset": String(offset) }).end()
    })
  }
  switch (request.method) {
    case "POST": {
      const length = request.headers["upload-length"]
      const [kind = "", parts = ""] = String(request.headers["upload-concat"] ?? "").split(";")
      const whole = parts.split(" ").reduce((sum, url) => sum + (uploads.get(idOf(url))?.length ?? 0), 0)
      const created: Upload =
        kind === "final"
          ? { length: whole, offset: whole, kept: true }
          : { length: length === undefined ? undefined : Number(length), offset: 0, kept: kind === "partial" }
      const name = String(next++)
      uploads.set(name, created)
      // The same response as tusd.
      return receive(created, 201, { location: `/resumable/files/${name}`, "content-length": "0" })
    }
    case "HEAD": {
      const known = upload?.length === undefined ? undefined : { "upload-length": String(upload.length) }
      return void response.writeHead(200, { ...tus, "upload-offset": String(upload?.offset ?? 0), ...known }).end()
    }
    case "PATCH": {
      const length = request.headers["upload-length"]
      if (upload !== undefined && length !== undefined) upload.length = Number(length)
      return receive(upload ?? { length: undefined, offset: 0, kept: false }, 204, {})
    }
    default:
      return void response.writeHead(204, { ...tus, ...offered }).end()
  }
})

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

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  const rtt = Number(process.env["SINK_RTT"] ?? 0)
  if (rtt === 0) return report(port)
  const rate = Number(process.env["SINK_RATE"])
  const link = createTcpServer({ noDelay: true }, (client) => {
    const inner = connect({ port, host: "127.0.0.1", noDelay: true })
    throttle(client, inner, rtt / 2, rate)
    throttle(inner, client, rtt / 2, rate * 100)
  })
  link.listen(0, "127.0.0.1", () => report((link.address() as AddressInfo).port))
})
