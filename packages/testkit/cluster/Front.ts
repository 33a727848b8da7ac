/**
 * An HTTP proxy between the runners and the service. It forwards requests, counts them, and limits the speed of
 * uploads. Each runner sends its name in the header `x-runner`.
 */
import { Effect } from "effect"
import { once } from "node:events"
import * as Http from "node:http"
import { Transform, type TransformCallback } from "node:stream"
import { pipeline } from "node:stream/promises"
import * as Loopback from "../hostile/Loopback.ts"

/** A request that sends bytes of a file. */
export interface Sending {
  readonly runner: string
  /** The path of the upload. */
  readonly path: string
  /** The offset at which the request begins, and the number of bytes that it has sent so far. */
  readonly from: number
  bytes: number
  /** When the request came, when its last byte came, and when it ended, in milliseconds since 1970. */
  readonly start: number
  lastByte: number
  end: number | undefined
}

export interface Front {
  readonly url: string
  /** Sets the URL of the service, when the service listens. */
  readonly passTo: (url: string) => void
  /** How many bytes of each request are forwarded in a second. */
  speed: number
  /** The ids of the Assemblies that were created, one for each creation that the service accepted. */
  readonly assemblies: Array<string>
  /** The runners that have created uploads. */
  readonly creators: Set<string>
  readonly sendings: Array<Sending>
}

/** The open requests of a runner that have sent more than `bytes` bytes. */
export const sendingsOf = ({ sendings }: Front, runner: string, bytes = 0): ReadonlyArray<Sending> =>
  sendings.filter((sending) => sending.runner === runner && sending.end === undefined && sending.bytes > bytes)

/** How many bytes of each upload were sent more than once. */
export const repetitions = ({ sendings }: Front): ReadonlyArray<number> =>
  Object.values(Object.groupBy(sendings, ({ path }) => path)).map((all = []) => {
    const begin = Math.min(...all.map(({ from }) => from))
    const end = Math.max(...all.map(({ bytes, from }) => from + bytes))
    return all.reduce((sum, { bytes }) => sum + bytes, begin - end)
  })

const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "x-runner"])

const forwarded = (headers: Http.IncomingHttpHeaders): Http.OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))

/** Forwards bytes at the speed of the proxy, and calls `passed` for each piece. */
const limited = (front: Front, passed: (bytes: number) => void) => {
  let due = Date.now()
  return new Transform({
    transform(piece: Buffer, _: BufferEncoding, done: TransformCallback) {
      passed(piece.length)
      due = Math.max(due, Date.now()) + (piece.length / front.speed) * 1000
      setTimeout(() => done(null, piece), Math.max(0, due - Date.now()))
    }
  })
}

const handle = async (front: Front, to: URL, incoming: Http.IncomingMessage, outgoing: Http.ServerResponse) => {
  const method = incoming.method ?? ""
  const path = incoming.url ?? ""
  const runner = String(incoming.headers["x-runner"] ?? "")
  const request = Http.request({
    host: to.hostname,
    port: to.port,
    method,
    path,
    // The header `host` keeps the name of the proxy, so that the service puts this name into its URLs.
    headers: forwarded(incoming.headers),
    agent: false
  })
  let sending: Sending | undefined
  if (method === "PATCH") {
    const start = Date.now()
    const from = Number(incoming.headers["upload-offset"])
    sending = { runner, path, from, bytes: 0, start, lastByte: start, end: undefined }
    front.sendings.push(sending)
  }
  const answered = once(request, "response")
  answered.catch(() => undefined)
  const body = limited(front, (bytes) => {
    if (sending === undefined) return
    sending.bytes += bytes
    sending.lastByte = Date.now()
  })
  const sent = pipeline(incoming, body, request)
  sent.catch(() => request.destroy())
  try {
    const [response]: ReadonlyArray<Http.IncomingMessage> = await answered
    if (response === undefined) return
    const status = response.statusCode ?? 0
    const assembly = /^\/assemblies\/([^/?]+)$/.exec(path)?.[1]
    if (method === "POST" && status === 200 && assembly !== undefined) front.assemblies.push(assembly)
    if (method === "POST" && status === 201) front.creators.add(runner)
    outgoing.writeHead(status, forwarded(response.headers))
    await pipeline(response, outgoing)
  } catch {
    outgoing.destroy()
  } finally {
    if (sending !== undefined) sending.end = Date.now()
  }
}

/** Listens until the scope ends. */
export const make = Effect.gen(function* () {
  let to: URL | undefined
  const server = Http.createServer({ requestTimeout: 0 })
  const port = yield* Loopback.listen(server)
  const front: Front = {
    url: `http://127.0.0.1:${port}`,
    passTo: (url) => {
      to = new URL(url)
    },
    speed: Infinity,
    assemblies: [],
    creators: new Set(),
    sendings: []
  }
  server.on("request", (incoming, outgoing) => {
    if (to === undefined) outgoing.destroy()
    else void handle(front, to, incoming, outgoing)
  })
  return front
})
