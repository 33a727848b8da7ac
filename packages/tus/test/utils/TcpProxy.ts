/**
 * An HTTP proxy between a client and a server, which breaks connections and changes bytes on the way. Each connection of
 * the client has one to the server of its own.
 */
import { Effect, Option } from "effect"
import * as Http from "node:http"
import type * as Net from "node:net"
import { buffer } from "node:stream/consumers"
import type { Fault } from "./Fault.ts"
import * as HangClock from "./HangClock.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

const takeFault = (faults: Array<Fault>, method: string): Fault | undefined => {
  const index = faults.findIndex((fault) => fault.method === method || (fault.method === "*" && method !== "GET"))
  return index === -1 ? undefined : faults.splice(index, 1)[0]
}

const methodOf = ({ headers, method = "" }: Http.IncomingMessage): string =>
  String(headers["upload-concat"] ?? "").startsWith("final;") ? "FINAL" : method

interface Answer {
  readonly status: number
  readonly headers: Http.OutgoingHttpHeaders
  readonly body: Buffer
}

/** An answer that no server gave. */
const made = (
  method: string,
  status: number,
  headers: Http.OutgoingHttpHeaders = {},
  text = "ERR_FAULT: on purpose\n"
): Answer => {
  const body = Buffer.from(method === "HEAD" || status === 204 ? "" : text)
  return { status, headers: { "tus-resumable": "1.0.0", "content-length": body.length, ...headers }, body }
}

/** What the client gets for an answer of the server. */
const changed = (method: string, fault: Fault | undefined, answer: Answer): Answer => {
  const { "upload-offset": _, ...withoutOffset } = answer.headers
  const { "upload-defer-length": __, ...withoutDefer } = answer.headers
  switch (fault?._tag) {
    case "StatusAfter":
      return made(method, fault.status, fault.headers)
    case "WrongOffset":
      return { ...answer, headers: { ...withoutOffset, "upload-offset": fault.offset } }
    case "MissingOffset":
      return { ...answer, headers: withoutOffset }
    case "WrongLength":
      return { ...answer, headers: { ...withoutDefer, "upload-length": fault.length } }
    default:
      return answer
  }
}

/** A timer that keeps no process alive, so that tests see those of the client alone. */
const later = (act: () => void, millis: number): void => void setTimeout(act, millis).unref()

/**
 * A proxy in front of a server on this machine. Its port may be told later, by a server that has to know the proxy's
 * name.
 */
export const make = Effect.fnUntraced(function* (port = 0) {
  const jump = Option.getOrUndefined(yield* Effect.serviceOption(HangClock.Jump))
  const faults: Array<Fault> = []
  const requests: Array<string> = []
  const agents = new Map<Net.Socket, Http.Agent>()
  const busy = new Set<Net.Socket>()
  const to = { port }

  const proxy = Http.createServer(
    { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 },
    (request, response) => {
      const client = request.socket
      const method = methodOf(request)
      const fault = takeFault(faults, method)
      requests.push(method)
      busy.add(client)
      response.sendDate = false

      const answer = ({ body, headers, status }: Answer) => {
        busy.delete(client)
        if (response.destroyed) return
        response.writeHead(status, headers).end(body)
      }

      /**
       * Lets time pass for the client. A client that went on at that very moment waits again, so time passes again after a
       * second, until the client leaves. What it still sends is read then, because its end is behind that.
       */
      const hang = () => {
        if (jump === undefined) return
        const pass = () => {
          jump()
          request.resume()
        }
        setImmediate(pass)
        const timer = setInterval(pass, 1000).unref()
        client.on("close", () => clearInterval(timer))
      }

      if (fault?._tag === "Status") {
        request.resume()
        return answer(made(method, fault.status, fault.headers, fault.body))
      }
      if (fault?._tag === "NoAnswer") {
        request.resume()
        return hang()
      }

      const server = Http.request({
        host: "127.0.0.1",
        port: to.port,
        agent: agents.get(client),
        method: request.method,
        path: request.url,
        headers: request.headers
      })
      let stalled = false
      let answered = false
      /** Ends the connection to the server, after every byte that was meant for it. */
      const leave = () => {
        server.on("socket", (socket) => socket.destroySoon())
        server.socket?.destroySoon()
      }
      /** Both ends see the connection end. */
      const breakOff = () => {
        leave()
        client.resetAndDestroy()
      }
      // An answer that is to come late is still owed.
      server
        .on("error", () => undefined)
        .on("close", () => {
          if (!answered && !stalled) client.destroySoon()
        })
      const gone = () => server.destroy()
      client.once("close", gone)
      server.once("close", () => client.off("close", gone))

      const forward = (bytes: Buffer) => {
        if (server.writable && bytes.length > 0 && !server.write(bytes)) request.pause()
      }
      server.on("drain", () => {
        if (!stalled) request.resume()
      })
      let seen = 0
      request.on("data", (bytes: Buffer) => {
        if (stalled || client.destroyed) return
        const before = seen
        seen += bytes.length
        switch (fault?._tag) {
          case "Cut":
          case "Stall":
            forward(bytes.subarray(0, Math.max(0, fault.bytes - before)))
            if (seen < fault.bytes) return
            if (fault._tag === "Cut") return breakOff()
            stalled = true
            request.pause()
            hang()
            // The server must not wait for the rest: nobody would tell it when the client has left.
            return leave()
          case "Slow":
            forward(bytes)
            if (Math.floor(seen / fault.bytes) > Math.floor(before / fault.bytes)) {
              request.pause()
              later(() => request.resume(), fault.millis)
            }
            return
          case "Corrupt":
            return forward(
              before > 0 ? bytes : Buffer.from(bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte)))
            )
          default:
            forward(bytes)
        }
      })
      request.on("end", () => server.end())

      server.on("response", async (given) => {
        answered = true
        const body = await buffer(given).catch(() => undefined)
        if (body === undefined) return client.destroySoon()
        const { "transfer-encoding": framing, ...headers } = given.headers
        const whole = changed(method, fault, {
          status: given.statusCode ?? 0,
          headers: body.length === 0 && framing === undefined ? headers : { ...headers, "content-length": body.length },
          body
        })
        switch (fault?._tag) {
          case "LostAnswer":
            return breakOff()
          case "HalfAnswer": {
            const lines = Object.entries(whole.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
            const head = `HTTP/1.1 ${whole.status} OK\r\n${lines.join("")}\r\n`
            busy.delete(client)
            client.write(head.slice(0, head.length / 2))
            return client.destroySoon()
          }
          case "SlowAnswer":
            return later(() => answer(whole), fault.millis)
          default:
            return answer(whole)
        }
      })
    }
  )
  proxy.on("connection", (client: Net.Socket) => {
    const agent = new Http.Agent({ keepAlive: true, maxSockets: 1 })
    agents.set(client, agent)
    client.setNoDelay(true).on("close", () => {
      agents.delete(client)
      busy.delete(client)
      agent.destroy()
    })
  })
  const authority = `127.0.0.1:${yield* Loopback.listen(proxy)}`
  return {
    /** `127.0.0.1:<port>`, where clients connect. */
    authority,
    /** Where requests go. */
    to,
    /** The faults of the next requests; the first that fits is taken. */
    faults,
    /** The methods of the requests that came, in their order. */
    requests,
    /** The connections that clients have open. */
    connections: () => agents.size,
    /** Requests that are neither answered nor left. */
    busy: () => busy.size,
    /** Closes the connections that wait for a next request, as a server does after a while. */
    closeIdle: () => {
      for (const client of agents.keys()) if (!busy.has(client)) client.destroySoon()
    }
  }
})
