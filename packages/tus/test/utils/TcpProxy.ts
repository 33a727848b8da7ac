/**
 * A TCP proxy between a client and a server, which breaks connections and changes bytes on the way. Each connection of
 * the client has one to the server of its own.
 */
import { Effect, Option } from "effect"
import { identity } from "effect/Function"
import * as Http from "node:http"
import * as Net from "node:net"
import type { Fault } from "./Fault.ts"
import * as HangClock from "./HangClock.ts"
import * as Http1 from "./Http1.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

export interface TcpProxy {
  /** `127.0.0.1:<port>`, where clients connect. */
  readonly authority: string
  /** The faults of the next requests; the first that fits is taken. */
  readonly faults: Array<Fault>
  /** The methods of the requests that came, in their order. */
  readonly requests: Array<string>
  /** The connections that clients have open. */
  readonly connections: () => number
  /** Requests that are neither answered nor left. */
  readonly busy: () => number
  /** Closes the connections that wait for a next request, as a server does after a while. */
  readonly closeIdle: () => void
}

/** A request on its way. */
interface Exchange {
  readonly method: string
  readonly fault: Fault | undefined
  /** The bytes of its body that came so far. */
  seen: number
}

/** A whole answer of the server. */
interface Answer {
  readonly head: Http1.Head
  readonly body: Buffer
}

/** What the connections of a proxy share. */
interface Shared {
  readonly port: number
  /** How the names of proxy and server are exchanged, in requests and in answers. */
  readonly toServer: (text: string) => string
  readonly toClient: (text: string) => string
  readonly faults: Array<Fault>
  readonly requests: Array<string>
  readonly clients: Set<Net.Socket>
  /** The connections that carry a request which is neither answered nor left. */
  readonly busy: Set<Net.Socket>
  /** Lets time pass for a client whose request hangs. */
  readonly jump: (() => void) | undefined
}

const takeFault = (faults: Array<Fault>, method: string): Fault | undefined => {
  const index = faults.findIndex((fault) => fault.method === method || (fault.method === "*" && method !== "GET"))
  return index === -1 ? undefined : faults.splice(index, 1)[0]
}

const methodOf = (head: Http1.Head): string =>
  Http1.header(head, "upload-concat")?.startsWith("final;") === true ? "FINAL" : (head.start.split(" ")[0] ?? "")

/** The bytes of an answer that no server gave. */
const made = (
  method: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  text = "ERR_FAULT: on purpose\n"
): Buffer => {
  const body = method === "HEAD" || status === 204 ? "" : text
  const all = { "tus-resumable": "1.0.0", "content-length": String(body.length), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const head = { start: `HTTP/1.1 ${status} ${Http.STATUS_CODES[status] ?? "Unknown"}`, headers: lines }
  return Buffer.concat([Http1.encodeHead(head), Buffer.from(body)])
}

/** The bytes that the client gets for an answer of the server. */
const changed = ({ fault, method }: Exchange, { body, head }: Answer): Buffer => {
  switch (fault?._tag) {
    case "StatusAfter":
      return made(method, fault.status, fault.headers)
    case "HalfAnswer": {
      const whole = Http1.encodeHead(head)
      return whole.subarray(0, whole.length / 2)
    }
    case "WrongOffset":
    case "MissingOffset": {
      const offset = fault._tag === "WrongOffset" ? fault.offset : undefined
      return Buffer.concat([Http1.encodeHead(Http1.withHeader(head, "upload-offset", offset)), body])
    }
    case "WrongLength": {
      const known = Http1.withHeader(head, "upload-defer-length", undefined)
      return Buffer.concat([Http1.encodeHead(Http1.withHeader(known, "upload-length", fault.length)), body])
    }
    default:
      return Buffer.concat([Http1.encodeHead(head), body])
  }
}

/** An answer as the client is to see it: with the proxy's name, and of a length that its head tells. */
const translated = (toClient: Shared["toClient"], head: Http1.Head, body: Buffer): Answer => {
  const text = Buffer.from(toClient(body.toString("latin1")), "latin1")
  const isChunked = Http1.header(head, "transfer-encoding") !== undefined
  const framed =
    isChunked || body.length > 0
      ? Http1.withHeader(Http1.withHeader(head, "transfer-encoding", undefined), "content-length", String(text.length))
      : head
  return { head: { start: framed.start, headers: framed.headers.map(toClient) }, body: text }
}

/** A timer that keeps no process alive, so that tests see those of the client alone. */
const later = (act: () => void, millis: number): void => void setTimeout(act, millis).unref()

/** Joins a client to the server. */
const join = (
  client: Net.Socket,
  { busy, clients, faults, jump, port, requests, toClient, toServer }: Shared
): void => {
  const server = Net.connect(port, "127.0.0.1")
  let exchange: Exchange | undefined
  let answer: { readonly head: Http1.Head; readonly body: Array<Buffer> } | undefined
  let stalled = false
  const readRequest = Http1.reader()
  const readAnswer = Http1.reader(({ start }) => exchange?.method === "HEAD" || start.startsWith("HTTP/1.1 204"))

  /** Both ends see the connection end, the server after every byte that was meant for it. */
  const breakOff = () => {
    server.destroySoon()
    client.resetAndDestroy()
  }

  /** What the client still sends is read to no end: a connection that is closed on unread bytes takes the answer along. */
  const close = () => {
    client.end()
    client.resume()
  }

  /**
   * Lets time pass for the client. A client that went on at that very moment waits again, so time passes again after a
   * second, until the client leaves. What it still sends is read then, because its end is behind that.
   */
  const hang = () => {
    if (jump === undefined) return
    const pass = () => {
      jump()
      client.resume()
    }
    setImmediate(pass)
    const timer = setInterval(pass, 1000).unref()
    client.on("close", () => clearInterval(timer))
  }

  const forward = (bytes: Buffer) => {
    if (server.writable && !server.write(bytes)) client.pause()
  }

  /** A stretch of a body, as far as it comes. */
  const forwardBody = (current: Exchange, bytes: Buffer) => {
    const { fault, seen } = current
    current.seen += bytes.length
    switch (fault?._tag) {
      case "Cut":
      case "Stall":
        forward(bytes.subarray(0, Math.max(0, fault.bytes - seen)))
        if (current.seen < fault.bytes) return
        if (fault._tag === "Cut") return breakOff()
        stalled = true
        client.pause()
        hang()
        // The server must not wait for the rest: nobody would tell it when the client has left.
        return server.destroySoon()
      case "Slow":
        forward(bytes)
        if (Math.floor(current.seen / fault.bytes) > Math.floor(seen / fault.bytes)) {
          client.pause()
          later(() => client.resume(), fault.millis)
        }
        return
      case "Corrupt":
        return forward(seen > 0 ? bytes : Buffer.from(bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte))))
      default:
        forward(bytes)
    }
  }

  const reachesServer = ({ fault }: Exchange) => fault?._tag !== "Status" && fault?._tag !== "NoAnswer"

  client.on("data", (data: Buffer) => {
    for (const piece of readRequest(data)) {
      if (piece._tag === "Head") {
        const method = methodOf(piece.head)
        exchange = { method, fault: takeFault(faults, method), seen: 0 }
        requests.push(method)
        busy.add(client)
        const { fault } = exchange
        if (fault?._tag === "Status") {
          client.write(made(method, fault.status, fault.headers, fault.body))
          busy.delete(client)
        } else if (fault?._tag === "NoAnswer") {
          hang()
        } else {
          forward(Buffer.from(toServer(Http1.encodeHead(piece.head).toString("latin1")), "latin1"))
        }
      } else if (exchange !== undefined && reachesServer(exchange) && !stalled && !client.destroyed) {
        if (piece._tag === "Body") forwardBody(exchange, piece.bytes)
        else if (piece._tag === "Frame") forward(piece.bytes)
      }
    }
  })

  const pass = (bytes: Buffer) => {
    busy.delete(client)
    if (client.writable) client.write(bytes)
    if (server.destroyed) close()
  }

  const onAnswer = (current: Exchange, whole: Answer) => {
    switch (current.fault?._tag) {
      case "LostAnswer":
        return breakOff()
      case "HalfAnswer":
        pass(changed(current, whole))
        server.destroySoon()
        return client.destroySoon()
      case "SlowAnswer":
        return later(() => pass(changed(current, whole)), current.fault.millis)
      default:
        return pass(changed(current, whole))
    }
  }

  server.on("data", (data: Buffer) => {
    for (const piece of readAnswer(data)) {
      if (piece._tag === "Head") {
        answer = { head: piece.head, body: [] }
      } else if (piece._tag === "Body") answer?.body.push(piece.bytes)
      else if (piece._tag === "End" && answer !== undefined && exchange !== undefined) {
        const whole = translated(toClient, answer.head, Buffer.concat(answer.body))
        answer = undefined
        onAnswer(exchange, whole)
      }
    }
  })
  server.on("drain", () => {
    if (!stalled) client.resume()
  })
  server.on("close", () => {
    // An answer that is to come late is still owed.
    if (!stalled && !(exchange?.fault?._tag === "SlowAnswer" && busy.has(client))) close()
  })
  client.on("close", () => {
    clients.delete(client)
    busy.delete(client)
    server.destroySoon()
  })
  // What breaks on purpose breaks on the other side too; "close" follows.
  for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => undefined)
}

/** The text with the names in `assembly_url` exchanged too, which is Base64. */
const exchanged = (from: string, to: string) => (text: string) =>
  text
    .replaceAll(from, to)
    .replace(
      /(\bassembly_url )([A-Za-z0-9+/=]+)/,
      (_, key: string, value: string) =>
        key + Buffer.from(Buffer.from(value, "base64").toString().replaceAll(from, to)).toString("base64")
    )

/**
 * A proxy in front of a server on this machine. For one that believes its own address more than the `host` of a request,
 * `exchangesNames`: the name of the proxy becomes that of the server in requests, and back in answers.
 */
export const make = Effect.fnUntraced(function* (
  port: number,
  { exchangesNames = false }: { readonly exchangesNames?: boolean } = {}
) {
  const jump = Option.getOrUndefined(yield* Effect.serviceOption(HangClock.Jump))
  const faults: Array<Fault> = []
  const requests: Array<string> = []
  const clients = new Set<Net.Socket>()
  const busy = new Set<Net.Socket>()
  const names = { proxy: "", server: `127.0.0.1:${port}` }
  const proxy = Net.createServer((client) => {
    clients.add(client)
    join(client, {
      jump,
      port,
      faults,
      requests,
      clients,
      busy,
      toServer: exchangesNames ? exchanged(names.proxy, names.server) : identity,
      toClient: exchangesNames ? exchanged(names.server, names.proxy) : identity
    })
  })
  names.proxy = `127.0.0.1:${yield* Loopback.listen(proxy)}`
  return {
    authority: names.proxy,
    faults,
    requests,
    connections: () => clients.size,
    busy: () => busy.size,
    closeIdle: () => {
      for (const client of clients) if (!busy.has(client)) client.destroySoon()
    }
  } satisfies TcpProxy
})
