import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Http2 from "node:http2"
import { request } from "node:https"
import { text } from "node:stream/consumers"
import { connect as connectTls, type TLSSocket } from "node:tls"
import type { Answer, send } from "./raw.ts"

/** Where the emulator listens, and how to trust it. */
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

/** How a stream ended: its answer, or the code that it was reset with. */
export interface Ended {
  readonly status: number | undefined
  readonly headers: Http2.IncomingHttpHeaders
  readonly text: string
  readonly code: number
}

/** What a stream answers until it is closed. */
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

/** A request over HTTP/2, as it is written here. */
export const overHttp2 = Effect.fnUntraced(function* (
  path: string,
  { body, headers = {}, method = "GET" }: NonNullable<Options> = {}
) {
  const opened = yield* session
  const stream = opened.request({ ":path": path, ":method": method, ...headers })
  stream.end(body)
  return yield* ended(stream)
}, Effect.scoped)

/** A request over HTTP/1.1 and TLS, as it is written here. */
export const overHttp1 = Effect.fnUntraced(function* (
  path: string,
  { body, headers = {}, method = "GET" }: NonNullable<Options> = {}
) {
  const { ca, url } = yield* target
  return yield* Effect.callback<Answer>((resume) => {
    const sent = request(
      `${url}${path}`,
      { method, headers, agent: false, ca, servername: "localhost" },
      (response) => {
        const answered = Effect.promise(() => text(response))
        resume(
          Effect.map(answered, (said) => ({ status: response.statusCode ?? 0, headers: response.headers, text: said }))
        )
      }
    )
    sent.once("error", (error) => resume(Effect.die(error)))
    sent.end(body)
    return Effect.sync(() => sent.destroy())
  })
})

/** A TLS connection that speaks the first of these protocols that the emulator knows. */
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

/** What the emulator says on a connection until it closes it. */
export const closed = (socket: TLSSocket) =>
  Effect.callback<string>((resume) => {
    let said = ""
    socket.setEncoding("latin1")
    socket.on("data", (chunk) => (said += chunk))
    socket.on("close", () => resume(Effect.succeed(said)))
  })
