/**
 * Servers on a free port of loopback.
 */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Server, type Socket } from "node:net"

/** Listens until the scope ends, which also cuts all connections. Returns the port. */
export const listen = (server: Server) =>
  Effect.suspend(() => {
    const sockets = new Set<Socket>()
    server.on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket))
    })
    return Effect.acquireRelease(
      Effect.callback<number>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
    )
  })

/** An HTTP server until the scope ends. Returns its origin. If `respond` fails, its connection is cut. */
export const serve = (respond: (request: IncomingMessage, response: ServerResponse) => unknown) => {
  const server = createServer(async (request, response) => {
    response.on("error", () => undefined)
    try {
      await respond(request, response)
    } catch {
      response.destroy()
    }
  })
  return Effect.map(listen(server), (port) => `http://127.0.0.1:${port}`)
}

/** Writes bytes to a new connection. Returns everything that arrives until the connection is closed. */
export const exchange = (port: number, bytes: string) =>
  Effect.callback<string>((resume) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes)).setEncoding("utf8")
    socket.on("data", (chunk) => (text += String(chunk)))
    socket.on("error", () => undefined).on("close", () => resume(Effect.succeed(text)))
    return Effect.sync(() => socket.destroy())
  })
