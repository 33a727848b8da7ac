/**
 * The emulator behind a server that serves a page, injects a fault on request, and supports HTTP/2 with TLS.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Faults from "@assembly-effect/emulator/Faults"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Http from "node:http"
import * as Http2 from "node:http2"
import { text } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Certificate from "../../packages/emulator/src/internal/http/certificate.ts"
import type * as Checks from "./checks.ts"

/** The protocol between the clients and the front server. */
type Protocol = "HTTP/1.1" | "HTTP/2"

type Incoming = Http.IncomingMessage | Http2.Http2ServerRequest
type Outgoing = Http.ServerResponse | Http2.Http2ServerResponse

/** The headers that apply only to one connection, so that a proxy does not forward them. */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"])

const forwarded = (headers: Http.IncomingHttpHeaders): Http.OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":") && !ofConnection.has(name)))

const begin = (response: Outgoing, status: number, headers: Http.OutgoingHttpHeaders = {}) => {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value)
}

const cutConnection = (response: Outgoing) => {
  if ("stream" in response) response.stream.close(Http2.constants.NGHTTP2_INTERNAL_ERROR)
  else response.destroy()
}

/** Forwards a request. */
const proxy = async (to: URL, incoming: Incoming, outgoing: Outgoing) => {
  const authority = incoming.headers[":authority"] ?? incoming.headers.host
  const headers = { ...forwarded(incoming.headers), host: String(authority) }
  const onward = Http.request(
    { host: to.hostname, port: to.port, method: incoming.method ?? "GET", path: incoming.url, headers, agent: false },
    (answer) => {
      begin(outgoing, answer.statusCode ?? 502, forwarded(answer.headers))
      answer.on("error", () => cutConnection(outgoing)).pipe(outgoing)
    }
  )
  outgoing.on("error", () => onward.destroy()).on("close", () => onward.destroy())
  // If one of the two connections breaks, the other one is closed too.
  await pipeline(incoming, onward)
}

/**
 * - `page`: the script of the page.
 * - `isDirect`: whether programs send their requests directly to the service. The front server then gets only the
 *   request that injects the fault.
 */
export interface Options {
  readonly protocol: Protocol
  readonly isDirect: boolean
  readonly page: string
  readonly blocks: number
  readonly sha256: string
}

export type Front = Effect.Success<ReturnType<typeof make>>

const html = '<!doctype html><title>runtimes</title><script type="module" src="page.js"></script>'

export const make = Effect.fnUntraced(function* ({ blocks, isDirect, page, protocol, sha256 }: Options) {
  const isSecure = protocol === "HTTP/2"
  const certificate = yield* Layer.build(Certificate.layer(isSecure ? "self-signed" : undefined))
  const { files } = Context.get(certificate, Certificate.Certificate)
  // The emulator must know the origin of this server, and this server that of the emulator.
  let handle = (_: Incoming, response: Outgoing): void => cutConnection(response)
  const listener = (request: Incoming, response: Outgoing) => handle(request, response)
  const port = yield* Loopback.listen(
    files === undefined
      ? Http.createServer({ requestTimeout: 0 }, listener)
      : Http2.createSecureServer({ cert: files.cert, key: Redacted.value(files.key) }, listener)
  )
  const origin = isSecure ? `https://localhost:${port}` : `http://127.0.0.1:${port}`
  const context = yield* Layer.build(Emulator.layer(isDirect ? {} : { publicUrl: origin }))
  const { baseUrl, credentials, localUrl } = Context.get(context, Emulator.Emulator)
  const config: Checks.Config = {
    baseUrl,
    cutUrl: `${origin}/runtimes/cut`,
    key: credentials.key,
    secret: Redacted.value(credentials.secret),
    blocks,
    sha256
  }
  const fault = Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 100_000 })
  let report: (value: Checks.Report) => void = () => undefined

  const answer = (response: Outgoing, status: number, headers: Http.OutgoingHttpHeaders, body = "") => {
    begin(response, status, headers)
    response.end(body)
  }
  const own: Readonly<Record<string, (request: Incoming, response: Outgoing) => Promise<void>>> = {
    "/runtimes/page": async (_, response) => answer(response, 200, { "content-type": "text/html" }, html),
    "/runtimes/page.js": async (_, response) => answer(response, 200, { "content-type": "text/javascript" }, page),
    "/runtimes/config": async (_, response) =>
      answer(response, 200, { "content-type": "application/json" }, JSON.stringify(config)),
    "/runtimes/cut": async (_, response) => {
      await Effect.runPromise(Context.get(context, Faults.Faults).inject(fault))
      answer(response, 204, { "access-control-allow-origin": "*" })
    },
    "/runtimes/report": async (request, response) => {
      report(JSON.parse(await text(request)))
      answer(response, 204, {})
    }
  }
  handle = (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? ""
    const run = own[path] ?? (() => proxy(new URL(localUrl), request, response))
    run(request, response).catch(() => cutConnection(response))
  }
  return {
    /** The input of a program. */
    config,
    /** The page that runs the program. */
    pageUrl: `${origin}/runtimes/page`,
    /** Waits for the next report of a page. */
    nextReport: () =>
      new Promise<Checks.Report>((resolve) => {
        report = resolve
      })
  }
})
