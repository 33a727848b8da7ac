/** An application on a port of its own, and clients that nobody could call polite. */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { AssemblyUpload } from "@assembly-effect/tus"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Cause, Effect, Layer, Logger, Redacted, type Scope } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { inspect } from "node:util"

export const credentials = { key: "the-auth-key", secret: Redacted.make("the-secret-of-the-tests") }

/** The signature of a text, computed without the code under test. */
export const signatureOf = (text: string, secret = Redacted.value(credentials.secret)): string =>
  `sha384:${createHmac("sha384", secret).update(text).digest("hex")}`

/** A form with these fields, and then a file. */
export const formOf = (
  content: BlobPart,
  fields: Readonly<Record<string, string>> = {},
  { filename = "a.txt", type = "" } = {}
) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set("file", new Blob([content], { type }), filename)
  return form
}

/** A client of a service that is not there, for routes that refuse before they need it. */
export const unreachable = AssemblyUpload.layer.pipe(
  Layer.provideMerge(AssemblyClient.layer({ baseUrl: "http://127.0.0.1:9" })),
  Layer.provide(Authenticator.layerSigned()),
  Layer.provideMerge(Credentials.layer(credentials)),
  Layer.provideMerge(FetchHttpClient.layer)
)

interface Application {
  readonly origin: string
  readonly port: number
  /** The connections that are open now. */
  readonly sockets: ReadonlySet<Socket>
  /** The bytes of all requests that were read from connections. */
  readonly bytesRead: () => number
  /** The bytes of all answers that were written to connections, which may not have arrived yet. */
  readonly bytesWritten: () => number
}

/** Serves routes until the scope closes. */
export const serve = Effect.fnUntraced(function* <E, R>(routes: Layer.Layer<never, E, R>) {
  const sockets = new Set<Socket>()
  const closed = { read: 0, written: 0 }
  const server = createServer({ requestTimeout: 0 })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => {
      closed.read += socket.bytesRead
      closed.written += socket.bytesWritten
      sockets.delete(socket)
    })
  })
  // Connections that a failing test leaves open would delay the end of the server.
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  yield* Layer.build(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(
        NodeHttpServer.layerServer(() => server, { host: "127.0.0.1", port: 0, gracefulShutdownTimeout: 0 })
      )
    )
  )
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    sockets,
    bytesRead: () => [...sockets].reduce((all, socket) => all + socket.bytesRead, closed.read),
    bytesWritten: () => [...sockets].reduce((all, socket) => all + socket.bytesWritten, closed.written)
  } satisfies Application
})

/** Lets sockets, and everything else that is not a clock, have their turn. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Waits until something is so. */
export const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : Effect.andThen(turn, until(isSo))))

/** Lets the time of the test pass until an Effect ends. What must not end by a limit of time has to be over before. */
export const passTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.raceFirst(effect, Effect.forever(Effect.andThen(turn, TestClock.adjust("5 seconds"))))

/**
 * Lets the time of the test pass in small steps until the application writes an answer, and returns the seconds that
 * passed. Then the time stands still until the answer has arrived: until something is so.
 */
export const secondsUntil = (isSo: () => boolean, { bytesWritten }: Application): Effect.Effect<number> =>
  Effect.gen(function* () {
    const before = bytesWritten()
    let seconds = 0
    for (; bytesWritten() === before; seconds++) {
      yield* TestClock.adjust("1 second")
      // What the application does when its time is over needs no socket, so one turn is enough on a slow machine too.
      yield* turn
    }
    yield* until(isSo)
    return seconds
  })

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

/** A request of `fetch`, with its answer as JSON. */
export const send = (url: string, init?: RequestInit): Effect.Effect<Answer> =>
  Effect.promise(async (signal) => {
    const response = await fetch(url, { method: "POST", ...init, signal })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
  })

/** A connection on which a test writes a request itself. */
export interface Raw {
  readonly write: (bytes: string | Uint8Array) => Effect.Effect<void>
  readonly received: () => string
  readonly isClosed: () => boolean
  readonly destroy: Effect.Effect<void>
}

export const open = (port: number): Effect.Effect<Raw, never, Scope.Scope> =>
  Effect.gen(function* () {
    let text = ""
    let closed = false
    const socket = yield* Effect.acquireRelease(
      Effect.callback<Socket>((resume) => {
        const connection = connect(port, "127.0.0.1", () => resume(Effect.succeed(connection)))
        connection.on("error", () => {})
      }),
      (connection) => Effect.sync(() => connection.destroy())
    )
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
    })
    socket.once("close", () => {
      closed = true
    })
    return {
      received: () => text,
      isClosed: () => closed,
      destroy: Effect.sync(() => socket.destroy()),
      // Without a turn, a loop of writes to a broken connection would starve the event that closes it.
      write: (bytes) =>
        Effect.callback<void>((resume) => {
          if (closed) return resume(turn)
          const done = () => {
            socket.off("close", done)
            resume(turn)
          }
          socket.once("close", done)
          socket.write(bytes, done)
        })
    } satisfies Raw
  })

/** The head of a request whose body is written piece by piece. */
export const headOf = (path: string, headers: Readonly<Record<string, string>>): string =>
  [`POST ${path} HTTP/1.1`, "host: localhost", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
    .map((line) => `${line}\r\n`)
    .join("") + "\r\n"

/** A chunk of a chunked body. */
export const chunk = (bytes: string): string => `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`

/** What an application logs. */
export const logged = () => {
  const lines: Array<string> = []
  const note = Logger.make(({ cause, logLevel, message }) => {
    lines.push(`${logLevel} ${inspect(message)} ${Cause.pretty(cause)}`)
  })
  return {
    provide: Effect.provide(Logger.layer([note])),
    count: (text: string | RegExp) => lines.filter((line) => line.match(text) !== null).length
  }
}

/** The description of the refusal in an answer. */
export const problemIn = (raw: Raw): string => /"description":"([^"]*)"/.exec(raw.received())?.[1] ?? ""

/** The status of the first answer in a text. */
export const statusIn = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
