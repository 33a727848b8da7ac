import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type * as Http from "node:http"
import * as Net from "node:net"
import type * as Limits from "../../Limits.ts"
import * as Refusal from "./Refusal.ts"

/** Milliseconds that a connection waits for another request; the default of 5 seconds meets busy machines. */
const maxKeepAlive = 60_000

/** How often it is looked for headers that take too long, in milliseconds. */
const maxInterval = 5000

const toMillis = (duration: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(duration))

/** The options of a server. The body of a request has no time limit: an upload takes as long as it takes. */
export const options = ({ headers, headersTime, idleTime }: Limits.Values): Http.ServerOptions => ({
  requestTimeout: 0,
  headersTimeout: toMillis(headersTime),
  connectionsCheckingInterval: Math.min(toMillis(headersTime), maxInterval),
  maxHeaderSize: headers,
  keepAliveTimeout: Math.min(toMillis(idleTime), maxKeepAlive),
  // Middleware refuses what names no host as well.
  requireHostHeader: false,
  // No route upgrades a connection, so such a request is one like the others.
  shouldUpgradeCallback: () => false
})

const reasons: ReadonlyMap<string, Refusal.Refusal> = new Map([
  ["HPE_HEADER_OVERFLOW", Refusal.server(431, "The headers are too large.")],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", Refusal.server(413, "The chunk extensions are too large.")],
  ["ERR_HTTP_REQUEST_TIMEOUT", Refusal.server(408, "The request took too long.")]
])

const broken = Refusal.server(400, "The request is no HTTP.")

const reasonOf = (error: Error): Refusal.Refusal =>
  (Predicate.hasProperty(error, "code") && typeof error.code === "string" ? reasons.get(error.code) : undefined) ??
  broken

const answers: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Payload Too Large",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large"
}

/** Milliseconds that an answer may take to leave before its connection is closed. */
const closing = 500

const bodyOf = (refusal: Refusal.Refusal): string => JSON.stringify(Refusal.toObject(refusal))

/** The answer to a request that no route sees. */
const refuse = (socket: Net.Socket, refusal: Refusal.Refusal): void => {
  const body = bodyOf(refusal)
  socket.setTimeout(closing, () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${refusal.status} ${answers[refusal.status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

/**
 * Bounds what connections cost: their number, and the pause of a body that is still to come. What is no HTTP gets the
 * error object that every other refusal is.
 */
export const guard = (server: Http.Server, { connections, idleTime }: Limits.Values): void => {
  /** The request that each connection brings, and the answer to it. */
  const current = new WeakMap<
    Net.Socket,
    { readonly request: Http.IncomingMessage; readonly response: Http.ServerResponse }
  >()
  server.maxConnections = connections
  server.prependListener("request", (request, response) => current.set(request.socket, { request, response }))
  server.setTimeout(toMillis(idleTime), (socket) => {
    const exchange = current.get(socket)
    // A quiet answer is no reason to close: updates of an Assembly may be far apart.
    const isAnswering = exchange?.request.complete === true && !exchange.response.writableFinished
    if (!isAnswering) socket.destroy()
  })
  server.on("checkExpectation", (request, response) => {
    const refusal = Refusal.server(417, "The expectation is not known.")
    response.writeHead(refusal.status, { connection: "close", "content-type": "application/json" })
    response.end(bodyOf(refusal))
    request.resume()
  })
  server.on("clientError", (error, socket) => {
    if (!(socket instanceof Net.Socket)) return socket.destroy()
    const response = current.get(socket)?.response
    const isAnswering = response !== undefined && response.headersSent && !response.writableFinished
    if (socket.writable && !isAnswering) refuse(socket, reasonOf(error))
    else socket.destroy()
  })
}
