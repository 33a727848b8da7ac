/**
 * A real HTTP server for one file, whose responses break off where a test wants it.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

/** Bytes without repetitions, so that a byte at a wrong place is noticed. */
export const bytesOf = (size: number, seed: number): Uint8Array => {
  const draw = new Draw(seed)
  const words = Uint32Array.from({ length: Math.ceil(size / 4) }, () => draw.next() * 4294967296)
  return new Uint8Array(words.buffer, 0, size)
}

export const hash = (algorithm: "md5" | "sha256", bytes: Uint8Array): string =>
  createHash(algorithm).update(bytes).digest("hex")

/**
 * What identifies the bytes in the headers. A `vague etag` and a `vague date` stay the same when the bytes change: a weak
 * ETag may, and so may a date in the second of the response.
 */
export const validators = ["strong etag", "weak etag", "vague etag", "date", "vague date", "none"] as const

export interface Kind {
  readonly validator: (typeof validators)[number]
  readonly hasRanges: boolean
}

const date = "Sat, 21 Nov 2026 12:00:00 GMT"
/** Every content has its own date of change. */
const changedAt = (bytes: Uint8Array): string =>
  new Date(Date.UTC(2026, 0, 1) + (parseInt(hash("md5", bytes).slice(0, 6), 16) % 10_000_000) * 1000).toUTCString()

const headersOf = (bytes: Uint8Array, { validator }: Kind): Readonly<Record<string, string>> => {
  const tag = `"${hash("md5", bytes)}"`
  switch (validator) {
    case "strong etag":
      return { date, etag: tag }
    case "weak etag":
      return { date, etag: `W/${tag}` }
    case "vague etag":
      return { date, etag: 'W/"vague"' }
    case "date":
      return { date, "last-modified": changedAt(bytes) }
    case "vague date":
      return { date, "last-modified": date }
    case "none":
      return { date }
  }
}

/** How one response ends: after so many bytes, or (if undefined) complete. `most` shortens a range. */
export interface Plan {
  readonly cutAfter?: number | undefined
  readonly most?: number | undefined
}

const send = (response: ServerResponse, body: Uint8Array, { cutAfter }: Plan): void => {
  if (cutAfter === undefined || cutAfter >= body.length) return void response.end(body)
  response.flushHeaders()
  response.write(body.subarray(0, cutAfter), () => response.destroy())
}

/** Responds as a server of files should, with the given ending. */
export const answer =
  (bytes: Uint8Array, kind: Kind, plan: Plan = {}): Server.Answer =>
  ({ headers }, response) => {
    const own = headersOf(bytes, kind)
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1])
    const condition = headers["if-range"]
    const holds = condition === undefined || condition === own["etag"] || condition === own["last-modified"]
    if (!kind.hasRanges || Number.isNaN(start) || !holds) {
      response.writeHead(200, { ...own, "content-length": bytes.length })
      return send(response, bytes, plan)
    }
    if (start >= bytes.length) {
      response.writeHead(416, { ...own, "content-range": `bytes */${bytes.length}`, "content-length": 0 })
      return void response.end()
    }
    const end = Math.min(bytes.length, start + (plan.most ?? Infinity))
    response.writeHead(206, {
      ...own,
      "content-range": `bytes ${start}-${end - 1}/${bytes.length}`,
      "content-length": end - start
    })
    return send(response, bytes.subarray(start, end), plan)
  }

/**
 * Sends the first `count` bytes of a file. `cut` breaks the connection, when the test has seen these bytes. A connection
 * that is cut earlier may lose bytes that were sent.
 */
export const held = (bytes: Uint8Array, kind: Kind, count: number) => {
  let sent: ServerResponse | undefined
  const respond: Server.Answer = (_, response) => {
    sent = response
    response.writeHead(200, { ...headersOf(bytes, kind), "content-length": bytes.length })
    response.write(bytes.subarray(0, count))
  }
  return { answer: respond, cut: () => void sent?.destroy() }
}

/** A server whose responses follow the plans, and whose last plan is repeated. */
export const make = Effect.fnUntraced(function* (answers: ReadonlyArray<Server.Answer>) {
  const server = yield* Server.make
  server.script(...answers)
  return { server, url: `${server.baseUrl}/results/1/file.bin?signature=secret-of-the-url` }
})
