/**
 * A tus server for one upload that reads slowly, so that the client has to wait. It reports how many bytes of the body
 * the client's system has accepted so far.
 */
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as DiagnosticsChannel from "node:diagnostics_channel"
import type * as Net from "node:net"

const connected = "undici:client:connected"

export const make = Effect.gen(function* () {
  const hash = createHash("sha256")
  let received = 0
  let held = () => false
  const origin = yield* Loopback.serve(async (request, response) => {
    response.setHeader("tus-resumable", "1.0.0")
    if (request.method === "POST") {
      response.writeHead(201, { location: "/resumable/files/a" })
      return void response.end()
    }
    request.on("data", (data: Buffer) => {
      hash.update(data)
      received += data.length
      request.pause()
      const goOn = () => void (held() ? setImmediate(goOn) : request.resume())
      setImmediate(goOn)
    })
    request.on("end", () => {
      response.writeHead(204, { "upload-offset": String(received) })
      response.end()
    })
  })
  const sockets: Array<Net.Socket> = []
  const onConnected = (message: unknown) => {
    if (typeof message === "object" && message !== null && "socket" in message) {
      sockets.push(message.socket as Net.Socket)
    }
  }
  DiagnosticsChannel.subscribe(connected, onConnected)
  yield* Effect.addFinalizer(() => Effect.sync(() => DiagnosticsChannel.unsubscribe(connected, onConnected)))
  return {
    tusUrl: `${origin}/resumable/files`,
    assemblySslUrl: `${origin}/assemblies/${"0".repeat(32)}`,
    /** Stops reading while this is true. */
    hold: (isHeld: () => boolean) => {
      held = isHeld
    },
    sha256: () => hash.digest("hex"),
    /** The number of bytes that the system has accepted, which is slightly more than the body. */
    left: () => sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0)
  }
})
