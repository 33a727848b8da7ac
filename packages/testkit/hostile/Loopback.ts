/**
 * A `node:http` server on loopback, for tests.
 */
import * as Effect from "effect/Effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * Serves on a free port until the scope ends, which also cuts all connections. Returns the base URL. If `respond`
 * fails, its connection is cut.
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
