/**
 * The proxy that the tests of faults rely on: it breaks what it says, where it says, and nothing else.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Http from "node:http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import type { Fault } from "./utils/Fault.ts"
import * as Http1 from "./utils/Http1.ts"
import * as TcpProxy from "./utils/TcpProxy.ts"

/** A server that keeps what it got of a body, whole or not, and a proxy in front of it. */
const scene = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault>) {
  const bodies: Array<Buffer> = []
  let onBody: (() => void) | undefined
  const origin = yield* Loopback.serve((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("error", () => undefined)
    request.on("close", () => {
      bodies.push(Buffer.concat(chunks))
      onBody?.()
    })
    request.on("end", () => response.writeHead(200, { "upload-offset": "5" }).end("stored"))
  })
  const proxy = yield* TcpProxy.make(Number(new URL(origin).port))
  proxy.faults.push(...faults)
  /** What the server got of the first body; it may hear of a cut after the client. */
  const received = Effect.callback<Buffer>((resume) => {
    onBody = () => resume(Effect.succeed(bodies[0] ?? Buffer.alloc(0)))
    if (bodies.length > 0) onBody()
  })
  return { url: `http://${proxy.authority}/`, bodies, received, proxy }
})

interface Answered {
  readonly status: number | undefined
  readonly offset: string | undefined
  readonly text: string
}

/** Sends a body, in chunks or with its length, and answers what came back, or that nothing did. */
const send = (url: string, body: Buffer, inChunks: boolean): Effect.Effect<Answered | "broken"> =>
  Effect.callback((resume) => {
    const headers = inChunks ? {} : { "content-length": body.length }
    const request = Http.request(url, { method: "PATCH", headers, agent: false }, (response) => {
      let text = ""
      response.on("data", (chunk: Buffer) => (text += chunk.toString()))
      response.on("end", () =>
        resume(Effect.succeed({ status: response.statusCode, offset: String(response.headers["upload-offset"]), text }))
      )
    })
    request.on("error", () => resume(Effect.succeed("broken")))
    request.end(body)
  })

const body = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251))

describe("the proxy", () => {
  for (const inChunks of [false, true]) {
    const kind = inChunks ? "a body in chunks" : "a body of known length"

    it.live(`hands ${kind} on as it is, and the answer back`, () =>
      Effect.gen(function* () {
        const { proxy, received, url } = yield* scene([])
        assert.deepStrictEqual(yield* send(url, body, inChunks), { status: 200, offset: "5", text: "stored" })
        assert.isTrue(body.equals(yield* received))
        assert.deepStrictEqual(proxy.requests, ["PATCH"])
      }).pipe(Effect.scoped)
    )

    it.live(`cuts ${kind} after exactly so many bytes`, () =>
      Effect.gen(function* () {
        for (const bytes of [0, 1, 50_001, 99_999]) {
          const { received, url } = yield* scene([{ _tag: "Cut", method: "PATCH", bytes }])
          assert.strictEqual(yield* send(url, body, inChunks), "broken")
          const got = yield* received
          assert.isTrue(body.subarray(0, bytes).equals(got), `${got.length} of ${bytes}`)
        }
      }).pipe(Effect.scoped)
    )
  }

  it.live("loses, halves, replaces and rewrites answers to requests that were done", () =>
    Effect.gen(function* () {
      const of = Effect.fnUntraced(function* (fault: Fault) {
        const { received, url } = yield* scene([fault])
        const answer = yield* send(url, body, false)
        assert.strictEqual((yield* received).length, body.length)
        return answer
      })
      assert.strictEqual(yield* of({ _tag: "LostAnswer", method: "PATCH" }), "broken")
      assert.strictEqual(yield* of({ _tag: "HalfAnswer", method: "PATCH" }), "broken")
      const offset = (answer: Answered | "broken") => (answer === "broken" ? answer : answer.offset)
      assert.strictEqual(offset(yield* of({ _tag: "WrongOffset", method: "PATCH", offset: "7" })), "7")
      assert.strictEqual(offset(yield* of({ _tag: "MissingOffset", method: "*" })), "undefined")
      assert.deepInclude(yield* of({ _tag: "StatusAfter", method: "PATCH", status: 502 }), { status: 502 })
      assert.deepInclude(yield* of({ _tag: "SlowAnswer", method: "PATCH", millis: 5 }), { text: "stored" })
      assert.deepInclude(yield* of({ _tag: "Slow", method: "PATCH", bytes: 30_000, millis: 2 }), { text: "stored" })
    }).pipe(Effect.scoped)
  )

  it.live("answers by itself where the server is to know nothing", () =>
    Effect.gen(function* () {
      const { bodies, proxy, url } = yield* scene([
        { _tag: "Status", method: "PATCH", status: 429, headers: { "retry-after": "1" } }
      ])
      assert.deepInclude(yield* send(url, body, false), { status: 429 })
      assert.strictEqual(bodies.length, 0)
      assert.deepInclude(yield* send(url, body, false), { status: 200 })
      assert.deepStrictEqual(proxy.faults, [])
    }).pipe(Effect.scoped)
  )

  it.effect("reads messages however they are cut into segments", () =>
    Effect.gen(function* () {
      const wire = Buffer.concat([
        Buffer.from("PATCH /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello"),
        Buffer.from("HEAD /a HTTP/1.1\r\n\r\n"),
        Buffer.from(
          "PATCH /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n"
        ),
        Buffer.from("PATCH /c HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
      ])
      /** What was read, the bytes of a body put together again. */
      const told = (segments: ReadonlyArray<Buffer>) => {
        const read = Http1.reader()
        return segments
          .flatMap((segment) => read(segment))
          .map((piece) => {
            if (piece._tag === "Head") return `\n${piece.head.start} `
            if (piece._tag === "Body") return piece.bytes.toString()
            return piece._tag === "End" ? " ." : ""
          })
          .join("")
      }
      const expected =
        "\nPATCH /a HTTP/1.1 hello .\nHEAD /a HTTP/1.1  .\nPATCH /b HTTP/1.1 abc0123456789 .\nPATCH /c HTTP/1.1  ."
      assert.strictEqual(told([wire]), expected)
      for (let round = 0; round < 200; round++) {
        const segments: Array<Buffer> = []
        for (let at = 0; at < wire.length;) {
          const size = yield* Random.nextIntBetween(1, 30)
          segments.push(wire.subarray(at, at + size))
          at += size
        }
        assert.strictEqual(told(segments), expected)
      }
    }).pipe(Random.withSeed("segments"))
  )
})
