import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Http2ServerRequest } from "node:http2"
import type * as Quotas from "../../Quotas.ts"
import type * as Around from "./around.ts"

/** How long a request, a connection or an error counts, in milliseconds. */
const window = 10_000

/** Counts events of the last 10 seconds. The times of older events are forgotten. */
const counter = () => {
  let times: Array<number> = []
  return {
    add: (now: number): void => void times.push(now),
    count: (now: number): number => {
      const first = times.findIndex((time) => time > now - window)
      times = first === -1 ? [] : times.slice(first)
      return times.length
    }
  }
}

const makeClient = () => ({ requests: counter(), opened: counter(), errors: counter(), open: new Set<object>() })

/** Counts the connection of a request, if this is its first request. */
const connect = (client: ReturnType<typeof makeClient>, request: Around.Request, now: number) => {
  const incoming = NodeHttpServerRequest.toIncomingMessage(request)
  // The requests of an HTTP/2 connection share its session; each has its own view of the socket.
  const connection =
    incoming instanceof Http2ServerRequest ? (incoming.stream.session ?? incoming.stream) : incoming.socket
  if (client.open.has(connection)) return
  client.open.add(connection)
  client.opened.add(now)
  connection.once("close", () => client.open.delete(connection))
}

const refused = HttpServerResponse.jsonUnsafe(
  { error: "429 Too Many Requests", message: "HAProxy thinks you have sent too many requests." },
  { status: 429 }
)

/** Refuses the requests of a client that has sent too much within 10 seconds, like the limiter in front of the service. */
export const around = (quotas: typeof Quotas.Settings.Type): Around.Around => {
  const clients = new Map<string, ReturnType<typeof makeClient>>()
  return Effect.fnUntraced(function* (handler, request) {
    const now = yield* Clock.currentTimeMillis
    const address = NodeHttpServerRequest.toIncomingMessage(request).socket.remoteAddress ?? ""
    const client = clients.get(address) ?? makeClient()
    clients.set(address, client)
    connect(client, request, now)
    client.requests.add(now)
    const isTooMuch =
      client.requests.count(now) > quotas.requests ||
      client.opened.count(now) > quotas.opened ||
      client.open.size > quotas.connections ||
      client.errors.count(now) > quotas.errors
    const response = isTooMuch ? refused : yield* handler
    if (response.status >= 400) client.errors.add(yield* Clock.currentTimeMillis)
    return response
  })
}
