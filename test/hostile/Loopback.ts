/**
 * A bare `node:http` server on loopback, for the tests of this package and of those above it.
 */
import * as Effect from "effect/Effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * Answers on a free port until the end of the scope, which also cuts all connections; the base URL. A `respond` that
 * fails cuts its connection.
 */
export const serve = Effect.fnUntraced(function* (
  respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>
) {
  const server = createServer((request, response) => {
    response.on("error", () => undefined)
    respond(request, response).catch(() => response.destroy())
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeAllConnections()
        return closed
      })
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
