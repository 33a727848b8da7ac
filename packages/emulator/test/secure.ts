import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import * as Http2 from "node:http2"
import { connect as connectTls, type TLSSocket } from "node:tls"
import type { send } from "./raw.ts"

/** The URL of the emulator, and the certificate that a client has to trust. */
const target = Effect.map(Emulator.Emulator, ({ certificate = "", localUrl }) => ({ ca: certificate, url: localUrl }))

/** An HTTP/2 connection to the emulator. */
export const session = Effect.gen(function* () {
  const { ca, url } = yield* target
  return yield* Effect.acquireRelease(
    Effect.callback<Http2.ClientHttp2Session>((resume) => {
      const opened = Http2.connect(url, { ca })
      opened.on("error", () => {})
      opened.once("remoteSettings", () => resume(Effect.succeed(opened)))
    }),
    (opened) => Effect.sync(() => opened.destroy())
  )
})

/** How an HTTP/2 stream ended: with a response, or with the code of a reset. */
export interface Ended {
  readonly status: number | undefined
  readonly headers: Http2.IncomingHttpHeaders
  readonly text: string
  readonly code: number
}

/** Waits until an HTTP/2 stream is closed, and returns how the stream ended. */
export const ended = (stream: Http2.ClientHttp2Stream) =>
  Effect.callback<Ended>((resume) => {
    let headers: Http2.IncomingHttpHeaders & Http2.IncomingHttpStatusHeader = {}
    let said = ""
    stream.setEncoding("utf8")
    stream.on("response", (received) => (headers = received))
    stream.on("data", (chunk: string) => (said += chunk))
    stream.on("error", () => {})
    stream.on("close", () =>
      resume(Effect.succeed({ status: headers[":status"], headers, text: said, code: stream.rstCode }))
    )
  })

type Options = Parameters<typeof send>[1]

/** Sends a raw request over HTTP/2. */
export const overHttp2 = Effect.fnUntraced(function* (
  path: string,
  { body, headers = {}, method = "GET" }: NonNullable<Options> = {}
) {
  const opened = yield* session
  const stream = opened.request({ ":path": path, ":method": method, ...headers })
  stream.end(body)
  return yield* ended(stream)
}, Effect.scoped)

/** Opens a TLS connection for the given protocol. */
export const secured = Effect.fnUntraced(function* (protocol: "h2" | "http/1.1") {
  const { ca, url } = yield* target
  return yield* Effect.acquireRelease(
    Effect.callback<TLSSocket>((resume) => {
      const { hostname: host, port } = new URL(url)
      const socket = connectTls({ host, port: Number(port), ca, ALPNProtocols: [protocol] }, () =>
        resume(Effect.succeed(socket))
      )
      socket.on("error", () => {})
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
})

/** Returns the text that the emulator sends on a connection until the emulator closes the connection. */
export const closed = (socket: TLSSocket) =>
  Effect.callback<string>((resume) => {
    let said = ""
    socket.setEncoding("latin1")
    socket.on("data", (chunk) => (said += chunk))
    socket.on("close", () => resume(Effect.succeed(said)))
  })
