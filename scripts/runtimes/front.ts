/**
 * The emulator behind a server that serves a page, injects a fault on request, and supports HTTP/2 with TLS.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Faults from "@assembly-effect/emulator/Faults"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import * as Http from "node:http"
import * as Http2 from "node:http2"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import type * as Checks from "./checks.ts"

/** The protocol between the clients and the front server. */
type Protocol = "HTTP/1.1" | "HTTP/2"

/** Creates a key and a self-signed certificate for localhost. */
const certificate = (): { readonly key: Buffer; readonly cert: Buffer } => {
  const folder = mkdtempSync(join(tmpdir(), "runtimes-tls-"))
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const algorithm = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  try {
    execFileSync("openssl", ["req", "-x509", ...algorithm, "-keyout", key, "-out", cert, "-days", "1", ...names], {
      stdio: "ignore"
    })
    return { key: readFileSync(key), cert: readFileSync(cert) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

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

/**
 * - `config`: the input of a program.
 * - `pageUrl`: the page that runs the program.
 * - `nextReport`: waits for the next report of a page.
 */
export interface Front {
  readonly config: Checks.Config
  readonly pageUrl: string
  readonly nextReport: () => Promise<Checks.Report>
}

export const make = Effect.fnUntraced(function* (options: Options) {
  const { blocks, isDirect, page, protocol, sha256 } = options
  let report: (value: Checks.Report) => void = () => undefined
  let local = new URL("http://127.0.0.1")
  let inject: () => Promise<void> = () => Promise.reject(new Error("not ready"))
  const config = Promise.withResolvers<Checks.Config>()

  const own: Readonly<Record<string, (request: Incoming, response: Outgoing) => Promise<void>>> = {
    "/runtimes/page": async (_, response) => {
      begin(response, 200, { "content-type": "text/html; charset=utf-8" })
      response.end('<!doctype html><title>runtimes</title><script type="module" src="page.js"></script>')
    },
    "/runtimes/page.js": async (_, response) => {
      begin(response, 200, { "content-type": "text/javascript; charset=utf-8" })
      response.end(page)
    },
    "/runtimes/config": async (_, response) => {
      begin(response, 200, { "content-type": "application/json" })
      response.end(JSON.stringify(await config.promise))
    },
    "/runtimes/cut": async (_, response) => {
      await inject()
      begin(response, 204, { "access-control-allow-origin": "*" })
      response.end()
    },
    "/runtimes/report": async (request, response) => {
      const pieces: Array<Buffer> = []
      for await (const piece of request) pieces.push(piece)
      report(JSON.parse(Buffer.concat(pieces).toString()))
      begin(response, 204)
      response.end()
    }
  }
  const handle = (request: Incoming, response: Outgoing) => {
    const path = (request.url ?? "").split("?")[0] ?? ""
    const answer = own[path] ?? (() => proxy(local, request, response))
    answer(request, response).catch(() => cutConnection(response))
  }

  const isSecure = protocol === "HTTP/2"
  const port = yield* Loopback.listen(
    isSecure ? Http2.createSecureServer({ ...certificate() }, handle) : Http.createServer({ requestTimeout: 0 }, handle)
  )
  const origin = isSecure ? `https://localhost:${port}` : `http://127.0.0.1:${port}`
  const context = yield* Layer.build(Emulator.layer(isDirect ? {} : { publicUrl: origin }))
  const { baseUrl, credentials, localUrl } = Context.get(context, Emulator.Emulator)
  const faults = Context.get(context, Faults.Faults)
  local = new URL(localUrl)
  inject = () => Effect.runPromise(faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 100_000 })))
  config.resolve({
    baseUrl,
    cutUrl: `${origin}/runtimes/cut`,
    key: credentials.key,
    secret: Redacted.value(credentials.secret),
    blocks,
    sha256
  })
  return {
    config: yield* Effect.promise(() => config.promise),
    pageUrl: `${origin}/runtimes/page`,
    nextReport: () =>
      new Promise((resolve) => {
        report = resolve
      })
  } satisfies Front
})
