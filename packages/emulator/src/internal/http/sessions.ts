import * as Http2 from "node:http2"
import type * as Net from "node:net"
import type * as Limits from "../limits.ts"
import { toMillis } from "./connections.ts"

/** The maximum number of concurrent requests on one connection. */
const maxConcurrentStreams = 100

/**
 * A request whose headers exceed the limit gets status 431. If the headers exceed this multiple of the limit, the
 * request is reset without a response.
 */
const answered = 4

/** The maximum time between two requests on one connection, in milliseconds. HTTP/1.1 has the same maximum. */
const maxKeepAlive = 60_000

/** The options of HTTP/2 connections. */
export const options = ({ headers, headersTime }: Limits.Values): Http2.SecureServerOptions => ({
  allowHTTP1: true,
  handshakeTimeout: toMillis(headersTime),
  settings: { enablePush: false, maxConcurrentStreams, maxHeaderListSize: headers * answered }
})

/** The size of the names and values of all headers. In HTTP/2 the path is a header too. */
export const headerBytes = (rawHeaders: ReadonlyArray<string>): number =>
  rawHeaders.reduce((bytes, text) => bytes + text.length, 0)

/**
 * Closes a request if its body pauses for `idleTime`. Closes a new connection if no request arrives within
 * `headersTime`. Closes an older connection if it has no request for `idleTime`, or for 60 seconds if `idleTime` is
 * longer. Headers that arrive byte by byte do not prolong these times.
 */
export const guard = (server: Http2.Http2SecureServer, { headersTime, idleTime }: Limits.Values): void => {
  const idle = toMillis(idleTime)
  const keepAlive = Math.min(idle, maxKeepAlive)

  server.on("session", (session) => {
    let open = 0
    // A Node timer is used, because this callback does not run in a fiber. The timer ends with its connection.
    // @effect-diagnostics-next-line globalTimers:off
    const closeAfter = (millis: number) => setTimeout(() => session.destroy(), millis).unref()
    let closing = closeAfter(toMillis(headersTime))
    session.on("stream", (stream) => {
      open++
      clearTimeout(closing)
      stream.setTimeout(idle, () => {
        // After its body has ended, a request stays open until its response has ended, because live updates may have
        // long pauses.
        const isAnswering = (stream.endAfterHeaders || stream.readableEnded) && !stream.writableFinished
        if (!isAnswering) stream.close(Http2.constants.NGHTTP2_CANCEL)
      })
      stream.once("close", () => {
        open--
        if (open === 0 && !session.destroyed) closing = closeAfter(keepAlive)
      })
    })
    session.once("close", () => clearTimeout(closing))
  })
}

/** The open connections of a server, including connections whose TLS handshake has not finished. */
export const connectionsOf = (server: Net.Server): ReadonlySet<Net.Socket> => {
  const open = new Set<Net.Socket>()
  server.on("connection", (socket) => {
    open.add(socket)
    socket.once("close", () => open.delete(socket))
  })
  return open
}
