/**
 * A real HTTP server that responds by a script, with one entry for each request. An entry is any `Behaviour`, including
 * faults that no framework would make: bodies that are cut, never end, never start, or grow when they are decoded.
 */
import { Effect, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Behaviour from "./Behaviour.ts"
import * as Loopback from "./Loopback.ts"

/** A request as it arrived. */
interface Received {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Responds to one request. */
export type Answer = (request: Received, response: ServerResponse) => void

export * from "./Behaviour.ts"

export interface HostileServer {
  readonly baseUrl: string
  readonly received: ReadonlyArray<Received>
  /** Sets the next responses; the last one is repeated. */
  readonly script: (...answers: ReadonlyArray<Answer>) => void
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString()
}

/** A server that ends with the scope, including all its connections. */
export const make: Effect.Effect<HostileServer, never, Scope.Scope> = Effect.gen(function* () {
  const received: Array<Received> = []
  let answers: ReadonlyArray<Answer> = [Behaviour.text(500, "no script")]

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

/** A server with these responses; the last one is repeated. */
export const answering = (...answers: ReadonlyArray<Answer>): Effect.Effect<HostileServer, never, Scope.Scope> =>
  Effect.tap(make, ({ script }) => Effect.sync(() => script(...answers)))
