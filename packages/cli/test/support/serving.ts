import * as Effect from "effect/Effect"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Starts a server on a free port, and ends it with the scope. Returns its host, such as `127.0.0.1:4026`. */
export const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(`127.0.0.1:${(server.address() as AddressInfo).port}`)))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

/** Answers requests until the scope ends. Returns the origin of the server. */
export const serve = (listener: RequestListener) =>
  Effect.map(listen(createServer(listener)), (host) => `http://${host}`)
