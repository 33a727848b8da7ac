/**
 * A real HTTP server that answers as a script says, one line for each request; faults included that no framework
 * would make: bodies that break off, never end or never begin.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Loopback from "../../../auth/test/utils/Loopback.ts"

/** A request as it arrived. */
interface Received {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Answers one request. */
export type Answer = (request: Received, response: ServerResponse) => void

export interface ScriptedServer {
  readonly baseUrl: string
  readonly received: ReadonlyArray<Received>
  /** Sets the answers to come; the last one is repeated. */
  readonly script: (...answers: ReadonlyArray<Answer>) => void
}

type Head = Readonly<Record<string, string | number>>

/** A whole answer with a content length. */
export const text =
  (status: number, body: string | Uint8Array, headers: Head = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers })
    response.end(body)
  }

export const json = (status: number, body: unknown, headers: Head = {}): Answer =>
  text(status, JSON.stringify(body), { "content-type": "application/json", ...headers })

/** A whole answer in two chunks, without a content length. */
export const chunked =
  (status: number, body: string, headers: Head = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.write(body.slice(0, body.length / 2))
    response.end(body.slice(body.length / 2))
  }

/** The connection is cut in the middle of the body. */
export const cut =
  (status: number, body: string): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    response.write(body.slice(0, body.length / 2), () => response.destroy())
  }

/** The connection is cut before any answer. */
export const reset: Answer = (_, response) => response.destroy()

/** The head of an answer, then nothing. */
export const stall =
  (status: number): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" })
    response.write("{")
  }

/** No answer at all. */
export const silence: Answer = () => undefined

/** A body without end, as fast as it is read. */
export const endless =
  (status: number): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" })
    const piece = "x".repeat(64 * 1024)
    const pump = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on("drain", pump)
    pump()
  }

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString()
}

/** A server that ends, with all its connections, at the end of the scope. */
export const make: Effect.Effect<ScriptedServer, never, Scope.Scope> = Effect.gen(function* () {
  const received: Array<Received> = []
  let answers: ReadonlyArray<Answer> = [text(500, "no script")]

  const baseUrl = yield* Loopback.serve(async (request, response) => {
    const body = await readBody(request)
    const url = new URL(request.url ?? "/", "http://scripted.test")
    const arrived: Received = {
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body
    }
    received.push(arrived)
    const [answer, ...rest] = answers
    if (rest.length > 0) answers = rest
    answer?.(arrived, response)
  })
  return {
    baseUrl,
    received,
    script: (...next) => {
      answers = next
    }
  }
})
