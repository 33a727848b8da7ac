import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Http from "node:http"
import * as Http2 from "node:http2"
import type * as Limits from "../limits.ts"
import * as Certificate from "./certificate.ts"
import * as Connections from "./connections.ts"

/** How long the server waits for its open connections when the emulator closes. */
const gracefulShutdownTimeout = "50 millis"

/** A server for TLS supports HTTP/2, and HTTP/1.1 for clients without HTTP/2. */
const secure = (limits: Limits.Values, { cert, key }: Certificate.Files) => {
  const { shouldUpgradeCallback, ...http1 } = Connections.options(limits)
  const server = Http2.createSecureServer({
    ...http1,
    ...Connections.http2Options(limits),
    cert,
    key: Redacted.value(key)
  })
  // `shouldUpgradeCallback` is set after the construction, because the constructor would replace this callback.
  return Object.assign(server, { shouldUpgradeCallback })
}

/**
 * The server listens before its routes are ready. Requests that arrive before the routes are ready are kept, and then
 * passed to the routes. Otherwise Node would leave these requests without a response.
 */
const keepEarlyRequests = (server: Http.Server): void => {
  const early: Array<readonly [Http.IncomingMessage, Http.ServerResponse]> = []
  const keep = (request: Http.IncomingMessage, response: Http.ServerResponse) => void early.push([request, response])
  server.on("request", keep)
  const pass = (event: string) => {
    if (event !== "request") return
    server.off("newListener", pass).off("request", keep)
    // Node emits `newListener` before it adds the listener.
    queueMicrotask(() => {
      for (const [request, response] of early) server.emit("request", request, response)
    })
  }
  server.on("newListener", pass)
}

const make = Effect.fnUntraced(function* (port: number, limits: Limits.Values) {
  const { files } = yield* Certificate.Certificate
  // Without a certificate, the server supports HTTP/1.1 only. Both kinds of server have the same events for HTTP/1.1.
  const plain = files === undefined
  const server = (plain ? Http.createServer(Connections.options(limits)) : secure(limits, files)) as Http.Server
  Connections.guard(server, limits)
  const connections = Connections.connectionsOf(server)
  keepEarlyRequests(server)
  const http = yield* NodeHttpServer.make(() => server, { host: "127.0.0.1", port, gracefulShutdownTimeout })
  // Finalizers run in reverse order, so this finalizer closes the connections before the server waits for them.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of connections) socket.destroy()
    })
  )
  return http
})

/**
 * An HTTP server on loopback only, because whoever reaches the server and knows the id of an Assembly can read the
 * Assembly without credentials.
 */
export const layer = (port: number, limits: Limits.Values) => Layer.effect(HttpServer.HttpServer, make(port, limits))
