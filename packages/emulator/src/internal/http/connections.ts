import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type * as Http from "node:http"
import type * as Http2 from "node:http2"
import * as Net from "node:net"
import type * as Limits from "../limits.ts"
import * as Refusal from "./refusal.ts"

/**
 * The maximum time that an idle connection stays open, in milliseconds. Node's default of 5 seconds is too short for a
 * busy machine.
 */
const maxKeepAlive = 60_000

/** The maximum interval between two checks for slow headers, in milliseconds. */
const maxInterval = 5000

/** The time as whole milliseconds, which a timer of Node requires. A timer of more milliseconds would end at once. */
export const toMillis = (time: Duration.Duration): number => Math.min(Math.ceil(Duration.toMillis(time)), 2 ** 31 - 1)

/** The options of the HTTP server. A request has no total time limit, because its body may be a long upload. */
export const options = ({ headers, headersTime, idleTime }: Limits.Values): Http.ServerOptions => ({
  requestTimeout: 0,
  headersTimeout: toMillis(headersTime),
  connectionsCheckingInterval: Math.min(toMillis(headersTime), maxInterval),
  maxHeaderSize: headers,
  keepAliveTimeout: Math.min(toMillis(idleTime), maxKeepAlive),
  // The middleware `HostCheck`, not Node, refuses a request without a `host` header.
  requireHostHeader: false,
  // No route upgrades a connection, so a request for an upgrade is handled like any other request.
  shouldUpgradeCallback: () => false
})

const reasons: ReadonlyMap<string, Refusal.Refusal> = new Map([
  ["HPE_HEADER_OVERFLOW", Refusal.tooLargeHeaders],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", Refusal.server(413, "The chunk extensions are too large.")],
  ["ERR_HTTP_REQUEST_TIMEOUT", Refusal.server(408, "The request took too long.")]
])

const broken = Refusal.server(400, "The request is not valid HTTP.")

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

/** How long a client may take to receive a refusal before its connection is closed, in milliseconds. */
const closing = 500

const bodyOf = (refusal: Refusal.Refusal): string => JSON.stringify(Refusal.toObject(refusal))

/** Sends the refusal of a request that Node rejects, and closes the connection. */
const refuse = (socket: Net.Socket, refusal: Refusal.Refusal): void => {
  const body = bodyOf(refusal)
  socket.setTimeout(closing, () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${refusal.status} ${answers[refusal.status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

/**
 * Limits the number of connections and the pauses in request bodies. Responds to invalid HTTP with the error object of
 * the service.
 */
export const guard = (
  secureOrPlain: Http.Server | Http2.Http2SecureServer,
  { connections, idleTime }: Limits.Values
): void => {
  // Both kinds of server have the same events for HTTP/1.1.
  const server = secureOrPlain as Http.Server
  /** The current request and response of each connection. */
  const current = new WeakMap<
    Net.Socket,
    { readonly request: Http.IncomingMessage; readonly response: Http.ServerResponse }
  >()
  server.maxConnections = connections
  server.prependListener("request", (request, response) => {
    if (request.httpVersionMajor === 1) current.set(request.socket, { request, response })
  })
  server.setTimeout(toMillis(idleTime), (socket) => {
    // `Sessions` limits HTTP/2 connections.
    if (!(socket instanceof Net.Socket)) return
    const exchange = current.get(socket)
    // After the whole request has arrived, its connection stays open until the response has ended, because live updates
    // may have long pauses.
    const isAnswering = exchange?.request.complete === true && !exchange.response.writableFinished
    if (!isAnswering) socket.destroy()
  })
  server.on("checkExpectation", (request, response) => {
    const refusal = Refusal.server(417, "The expectation is not supported.")
    const connection = request.httpVersionMajor === 1 ? { connection: "close" } : undefined
    response.writeHead(refusal.status, { ...connection, "content-type": "application/json" })
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
