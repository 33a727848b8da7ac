/**
 * Mutated responses as bytes on a connection, with failures that only HTTP itself has: framing, codings, and statuses
 * that no library would write.
 */
import { FetchClient } from "@assembly-effect/auth"
import * as UndiciClient from "@assembly-effect/node/UndiciClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Duration, Effect, Layer, References, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import * as Zlib from "node:zlib"
import * as Loopback from "../Loopback.ts"
import { Draw } from "./Draw.ts"
import * as Fuzz from "./Fuzz.ts"
import * as Mutation from "./Mutation.ts"
import * as Service from "./Service.ts"
import type { Pace, Subject } from "./Subjects.ts"

/** Short time limits, because these runs use the real clock. */
export const pace: Pace = {
  requestTimeout: Duration.seconds(1),
  deadline: Duration.seconds(3),
  interval: Duration.millis(1),
  maxWait: Duration.millis(10)
}

const startLines = [
  "HTTP/1.1 000 Zero",
  "HTTP/1.1 999 X",
  "HTTP/1.1 099",
  "HTTP/1.1 100 Continue",
  "HTTP/9.9 200 OK",
  "\u0000"
]

/** A `content-encoding`, which may be false, and a body. */
const encode = (draw: Draw, body: Uint8Array): readonly [string | undefined, Uint8Array] =>
  draw.of<() => readonly [string | undefined, Uint8Array]>([
    () => [undefined, body],
    () => [undefined, body],
    () => [undefined, body],
    () => ["gzip", Zlib.gzipSync(body)],
    () => ["br", Zlib.brotliCompressSync(body)],
    () => ["deflate", Zlib.deflateSync(body)],
    () => ["zstd", Zlib.zstdCompressSync(body)],
    () => ["gzip, br", Zlib.brotliCompressSync(Zlib.gzipSync(body))],
    () => ["gzip", body],
    () => ["br", body],
    () => ["gzip", Zlib.gzipSync(body).subarray(0, 15)]
  ])()

/** How long a silent connection stays open, in milliseconds. */
const silence = 1500

/** A header for the length of the body, and the body, in valid or invalid framing. */
const frame = (draw: Draw, body: Uint8Array): readonly [string | undefined, Uint8Array] => {
  const chunk = (size: string) => Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")])
  return draw.of<() => readonly [string | undefined, Uint8Array]>([
    () => [`content-length: ${body.length}`, body],
    () => [`content-length: ${body.length}`, body],
    () => [`content-length: ${body.length}`, body],
    () => [`content-length: ${draw.below(body.length + 1)}`, body],
    () => [`content-length: ${body.length + 1 + draw.below(1000)}`, body],
    () => ["content-length: 99999999999999999999", body],
    () => [undefined, body],
    () => ["transfer-encoding: chunked", chunk(body.length.toString(16))],
    () => ["transfer-encoding: chunked", chunk("zz")],
    () => ["transfer-encoding: chunked", chunk("ffffffff")]
  ])()
}

/**
 * Node's `fetch` refuses more codings, but leaves a stream without a listener, which ends the process when the response
 * is cut (see SECURITY.md). No caller of `fetch` can prevent this, so only undici gets such responses.
 */
const mostCodings = 5

const write = (draw: Draw, socket: Socket, answer: Mutation.Answer, isHead: boolean, isFetch: boolean): void => {
  const [coding, coded] = encode(draw, answer.body)
  const [length, framed] = frame(draw, coded)
  const headers = Object.entries(answer.headers).filter(
    ([name, value]) => !isFetch || name !== "content-encoding" || value.split(",").length <= mostCodings - 2
  )
  const head = [
    draw.chance(0.03) ? draw.of(startLines) : `HTTP/1.1 ${answer.status} X`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(coding === undefined ? [] : [`content-encoding: ${coding}`]),
    ...(length === undefined ? [] : [length]),
    "connection: close",
    "",
    ""
  ].join("\r\n")
  const bytes = Buffer.concat([Buffer.from(head, "latin1"), isHead ? Buffer.alloc(0) : framed])
  const way = draw.next()
  if (way < 0.9) socket.end(bytes)
  else if (way < 0.98) socket.write(bytes.subarray(0, draw.below(bytes.length)), () => socket.resetAndDestroy())
  else {
    // The connection stays open longer than the time limit of a request. Limits of minutes need the virtual clock.
    socket.write(bytes.subarray(0, draw.below(bytes.length)))
    setTimeout(() => socket.destroy(), silence)
  }
}

const read = async (request: IncomingMessage): Promise<number> => {
  let size = 0
  for await (const chunk of request) size += (chunk as Buffer).length
  return size
}

/** Our own clients, and those of Effect, which the library guards. */
const clients = {
  FetchClient: FetchClient.layer,
  UndiciClient: Layer.orDie(UndiciClient.layer),
  fetch: FetchHttpClient.layer,
  undici: NodeHttpClient.layerUndici
} as const
const names = ["FetchClient", "UndiciClient", "fetch", "undici"] as const

/** Runs one subject once over a connection. Returns the number of mutated responses that it got. */
const one = (subject: Subject, client: keyof typeof clients, seed: number) =>
  Effect.gen(function* () {
    const draw = new Draw(seed)
    let answers = 0
    let answer: ReturnType<typeof Service.make> | undefined
    const baseUrl: string = yield* Loopback.serve(async (request) => {
      const bytes = await read(request)
      answer ??= Service.make(baseUrl)
      const { method = "", url: path = "" } = request
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const right = answer({ method, path: path.split("?")[0] ?? "", headers, bytes })
      answers++
      const sent = draw.chance(0.7) ? Mutation.mutate(draw, right) : right
      write(draw, request.socket, sent, method === "HEAD", client === "fetch" || client === "FetchClient")
    })
    const exit = yield* Effect.exit(subject.run(baseUrl, draw, () => void answers++))
    return { outcome: Fuzz.outcomeOf(exit), answers }
  }).pipe(Effect.scoped, Effect.provide(clients[client]), Effect.provideService(References.MinimumLogLevel, "None"))

/** The number of concurrent runs. Many runs wait for data that never arrives. */
const concurrency = 8

/**
 * Sends the given number of responses to all subjects together, over connections, through each client in turns.
 */
export const run = (options: Fuzz.Options): Promise<Fuzz.Report> =>
  Fuzz.drive(options, concurrency, async (subject, seed, turn) => {
    const client = names[turn % names.length] ?? "fetch"
    const { answers, outcome } = await Fuzz.inTime(Effect.runPromise(one(subject, client, seed)), subject.name, seed)
    if (Result.isSuccess(outcome)) return { outcome: outcome.success, answers }
    throw new Fuzz.Finding({ subject: `${subject.name} over ${client}`, seed, description: outcome.failure })
  })
