import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import type * as Limits from "../../Limits.ts"
import * as Connections from "./connections.ts"

/** The time that current requests have when the emulator closes. */
const gracefulShutdownTimeout = "50 millis"

const make = Effect.fnUntraced(function* (port: number, limits: Limits.Values) {
  const server = createServer(Connections.options(limits))
  Connections.guard(server, limits)
  const http = yield* NodeHttpServer.make(() => server, { host: "127.0.0.1", port, gracefulShutdownTimeout })
  // Finalizers run in reverse order: this one runs before the server waits for its connections.
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  return http
})

/** An HTTP server on loopback only, since reading an Assembly needs no credentials. */
export const layer = (
  port: number,
  limits: Limits.Values
): Layer.Layer<HttpServer.HttpServer, HttpServerError.ServeError> =>
  Layer.effect(HttpServer.HttpServer, make(port, limits))
