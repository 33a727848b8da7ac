import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Http from "node:http"
import * as Http2 from "node:http2"
import * as Net from "node:net"
import type * as Limits from "../limits.ts"
import * as Refusal from "./refusal.ts"

/**
 * The maximum time between two requests on one connection, in milliseconds. Node's default of 5 seconds is too short for
 * a busy machine.
 */
const maxKeepAlive = 60_000

/** The maximum interval between two checks for slow headers, in milliseconds. */
const maxInterval = 5000

/** The time as whole milliseconds, which a timer of Node requires. A timer of more milliseconds would end at once. */
const toMillis = (time: Duration.Duration): number => Math.min(Math.ceil(Duration.toMillis(time)), 2 ** 31 - 1)

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

/** The maximum number of concurrent requests on one connection. */
const maxConcurrentStreams = 100

/**
 * A request whose headers exceed the limit gets status 431. If the headers exceed this multiple of the limit, the
 * request is reset without a response.
 */
const answered = 4

/** The options of HTTP/2 connections. */
export const http2Options = ({ headers, headersTime }: Limits.Values): Http2.SecureServerOptions => ({
  allowHTTP1: true,
  handshakeTimeout: toMillis(headersTime),
  settings: { enablePush: false, maxConcurrentStreams, maxHeaderListSize: headers * answered }
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

/** How long a client may take to receive a refusal before its connection is closed, in milliseconds. */
const closing = 500

const bodyOf = (refusal: Refusal.Refusal): string => JSON.stringify(Refusal.toObject(refusal))

/** Sends the refusal of a request that Node rejects, and closes the connection. */
const refuse = (socket: Net.Socket, refusal: Refusal.Refusal): void => {
  const body = bodyOf(refusal)
  socket.setTimeout(closing, () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${refusal.status} ${Http.STATUS_CODES[refusal.status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

/**
 * Closes a request if its body pauses for `idleTime`. Closes a new connection if no request arrives within
 * `headersTime`. Closes an older connection if it has no request for `idleTime`, or for 60 seconds if `idleTime` is
 * longer. Only HTTP/2 has sessions. Headers that arrive byte by byte do not prolong these times.
 */
const guardSessions = (server: Http.Server, { headersTime, idleTime }: Limits.Values): void => {
  const idle = toMillis(idleTime)
  const keepAlive = Math.min(idle, maxKeepAlive)

  server.on("session", (session: Http2.ServerHttp2Session) => {
    let open = 0
    // A Node timer is used, because this callback does not run in a fiber. The timer ends with its connection.
    // @effect-diagnostics-next-line globalTimers:off
    const closeAfter = (millis: number) => setTimeout(() => session.destroy(), millis).unref()
    let timer = closeAfter(toMillis(headersTime))
    session.on("stream", (stream) => {
      open++
      clearTimeout(timer)
      stream.setTimeout(idle, () => {
        // After its body has ended, a request stays open until its response has ended, because live updates may have
        // long pauses.
        const isAnswering = (stream.endAfterHeaders || stream.readableEnded) && !stream.writableFinished
        if (!isAnswering) stream.close(Http2.constants.NGHTTP2_CANCEL)
      })
      stream.once("close", () => {
        open--
        if (open === 0 && !session.destroyed) timer = closeAfter(keepAlive)
      })
    })
    session.once("close", () => clearTimeout(timer))
  })
}

/**
 * Limits the number of connections and the pauses in request bodies. Responds to invalid HTTP with the error object of
 * the service.
 */
export const guard = (server: Http.Server, limits: Limits.Values): void => {
  /** The current request and response of each connection. */
  const current = new WeakMap<
    Net.Socket,
    { readonly request: Http.IncomingMessage; readonly response: Http.ServerResponse }
  >()
  guardSessions(server, limits)
  server.maxConnections = limits.connections
  server.prependListener("request", (request, response) => {
    if (request.httpVersionMajor === 1) current.set(request.socket, { request, response })
  })
  server.setTimeout(toMillis(limits.idleTime), (socket) => {
    // `guardSessions` limits HTTP/2 connections.
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

/** The size of the names and values of all headers. In HTTP/2 the path is a header too. */
export const headerBytes = (rawHeaders: ReadonlyArray<string>): number =>
  rawHeaders.reduce((bytes, text) => bytes + text.length, 0)

/** The open connections of a server, including connections whose TLS handshake has not finished. */
export const connectionsOf = (server: Net.Server): ReadonlySet<Net.Socket> => {
  const open = new Set<Net.Socket>()
  server.on("connection", (socket) => {
    open.add(socket)
    socket.once("close", () => open.delete(socket))
  })
  return open
}
