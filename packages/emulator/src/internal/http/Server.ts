import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import type * as Limits from "../../Limits.ts"
import * as Connections from "./Connections.ts"

/** How long requests that are under way may still take when the emulator is closed. */
const gracefulShutdownTimeout = "50 millis"

const make = Effect.fnUntraced(function* (port: number, limits: Limits.Values) {
  const server = createServer(Connections.options(limits))
  Connections.guard(server, limits)
  const http = yield* NodeHttpServer.make(() => server, { host: "127.0.0.1", port, gracefulShutdownTimeout })
  // Runs before the server waits for its connections to end.
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  return http
})

/** A server on loopback only: whoever reaches it needs no credentials to read an Assembly. */
export const layer = (
  port: number,
  limits: Limits.Values
): Layer.Layer<HttpServer.HttpServer, HttpServerError.ServeError> =>
  Layer.effect(HttpServer.HttpServer, make(port, limits))
