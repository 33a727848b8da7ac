/**
 * Proxies in front of the service that refuse large requests: nginx by default above 1 MiB, others above 5 MiB or 100 MB.
 */
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { UploadEvent, UploadSource } from "@assembly-effect/tus"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Effect, Stream } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import type { IncomingMessage } from "node:http"
import * as BodySize from "../src/internal/bodySize.ts"
import { Clients, Scene, Upload } from "./utils/index.ts"

const kibi = 1024
const mebi = 1024 * kibi

const tus = { "tus-resumable": "1.0.0" }

/** A server behind a proxy that refuses a body above `most` bytes while it arrives, and closes the connection. */
const make = Effect.fnUntraced(function* (size: number, most: number) {
  const sizes: Array<number> = []
  const refused: Array<number> = []
  let stored = Buffer.alloc(0)
  const read = async (request: IncomingMessage): Promise<Buffer | undefined> => {
    const chunks: Array<Buffer> = []
    let length = 0
    for await (const chunk of request) {
      length += (chunk as Buffer).length
      if (length > most) return undefined
      chunks.push(chunk as Buffer)
    }
    return Buffer.concat(chunks)
  }
  const baseUrl = yield* Loopback.serve(async (request, response) => {
    const body = await read(request).catch(() => Buffer.alloc(0))
    if (body === undefined) {
      refused.push(Number(request.headers["content-length"] ?? 0))
      response.writeHead(413, { connection: "close" }).end("<h1>413 Request Entity Too Large</h1>")
    } else if (request.method === "OPTIONS") {
      response.writeHead(204, { ...tus, "tus-max-size": "1000000000" }).end()
    } else if (request.method === "POST") {
      stored = Buffer.alloc(0)
      response.writeHead(201, { ...tus, location: "/resumable/files/a", "upload-offset": "0" }).end()
    } else {
      if (request.method === "PATCH") {
        sizes.push(body.length)
        stored = Buffer.concat([stored, body])
      }
      response
        .writeHead(request.method === "PATCH" ? 204 : 200, {
          ...tus,
          "upload-offset": stored.length,
          "upload-length": size
        })
        .end()
    }
  })
  const target = yield* Scene.targetAt(baseUrl)
  return { target, sizes, refused, stored: () => stored }
})

const options = { ...Scene.options, retryDelay: 0 }

describe.each(Object.entries(Clients.beneath))("with %s", (name, http) => {
  const bytes = Scene.content(6 * mebi)
  const sources = {
    "that can be read again": () => UploadSource.fromBytes(bytes),
    "that is read once": () => UploadSource.fromStream(Scene.pieces(bytes, 300_000), { size: BigInt(bytes.length) })
  }

  for (const most of [mebi, 5 * mebi]) {
    it.live.each(Object.entries(sources))(
      `a source %s arrives through a proxy that refuses ${most / mebi} MiB`,
      http,
      function* ([, source]) {
        const { sizes, stored, target } = yield* make(bytes.length, most)
        yield* Upload.run(target, source(), options)
        assert.isTrue(stored().equals(bytes))
        assert.isAtMost(Math.max(...sizes), most)
      }
    )
  }

  // `fetch` on Node reports the closed connection instead of the response.
  if (name !== "fetch") {
    it.live("the second upload to an origin begins with the size that passed", http, function* () {
      const { refused, sizes, target } = yield* make(bytes.length, mebi)
      yield* Upload.run(target, UploadSource.fromBytes(bytes), options)
      const first = { refused: refused.length, sizes: sizes.length }
      assert.isAtLeast(first.refused, 1)
      yield* Upload.run(target, UploadSource.fromBytes(bytes), options)
      assert.strictEqual(refused.length, first.refused)
      assert.isAtMost(Math.max(...sizes.slice(first.sizes)), mebi)
    })
  }
})

describe("with undici", () => {
  const bytes = Scene.content(mebi)

  it.live(
    "a proxy that refuses 100 KiB: TooLarge, which names the refused sizes",
    Clients.beneath.undici,
    function* () {
      const { refused, target } = yield* make(bytes.length, 100 * kibi)
      const events: Array<string> = []
      const error = yield* Upload.events(target, UploadSource.fromBytes(bytes), options).pipe(
        Stream.tap((event) =>
          Effect.sync(() => void (UploadEvent.$is("Retrying")(event) && events.push(event.reason)))
        ),
        Stream.runDrain,
        Effect.flip
      )
      assert.deepInclude(error, { _tag: "TooLarge", status: 413, tried: [mebi, 512 * kibi, 256 * kibi] })
      assert.deepStrictEqual(refused, [mebi, 512 * kibi, 256 * kibi])
      assert.strictEqual(events.length, 2)
    }
  )
})

const body = (known?: bigint) => {
  const remembered: Array<bigint> = []
  const size = BodySize.make({
    chunkSize: undefined,
    streams: true,
    known,
    remember: (passed) => remembered.push(passed)
  })
  return { size, remembered }
}

describe("BodySize", () => {
  const all = 1n << 30n

  it.effect("a size that passed is known to the same client at the same origin, for an hour", function* () {
    const client = HttpClient.make(() => Effect.die("sends nothing"))
    const nextAt = (url: string, http = client) =>
      BodySize.at(url, { chunkSize: undefined, streams: true }).pipe(Effect.provideService(HttpClient.HttpClient, http))
    const first = yield* nextAt("https://a.example/1")
    assert.isTrue(first.refused(all))
    first.passed(all / 2n, 1)
    yield* TestClock.adjust("59 minutes")
    assert.strictEqual((yield* nextAt("https://a.example/2")).next(all), all / 2n)
    assert.strictEqual((yield* nextAt("https://b.example/2")).next(all), all)
    assert.strictEqual(
      (yield* nextAt(
        "https://a.example/2",
        HttpClient.make(() => Effect.never)
      )).next(all),
      all
    )
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* nextAt("https://a.example/2")).next(all), all)
  })

  test("is the rest of the source until a body is refused", () => {
    assert.strictEqual(body().size.next(all), all)
  })

  test("is halved after 413, down to 256 KiB, and remembers the size that passed", () => {
    const { remembered, size } = body()
    assert.isTrue(size.refused(all))
    assert.strictEqual(size.next(all), all / 2n)
    size.passed(all / 2n, 1)
    assert.deepStrictEqual(remembered, [all / 2n])
    assert.isTrue(size.refused(300_000n))
    assert.strictEqual(size.next(all), 262_144n)
    assert.isFalse(size.refused(262_144n))
    assert.deepStrictEqual(size.tried, [Number(all), 300_000, 262_144])
  })

  test("is 16 KiB after two cuts at the same offset, and doubles with each body that arrives", () => {
    const { remembered, size } = body()
    size.cut(0n, all)
    size.cut(100n, all)
    size.cut(200n, all)
    assert.strictEqual(size.next(all), all)
    size.cut(200n, all)
    assert.strictEqual(size.next(all), 16_384n)
    size.passed(16_384n, 1)
    size.passed(32_768n, 1)
    assert.strictEqual(size.next(all), 65_536n)
    assert.deepStrictEqual(remembered, [])
  })

  test("does not grow beyond the half of a body that was cut twice after a smaller body had arrived", () => {
    const { size } = body()
    for (const _ of [1, 2]) size.cut(0n, all)
    size.passed(16_384n, 1)
    for (const _ of [1, 2]) size.cut(16_384n, 16_384n + 32_768n)
    assert.strictEqual(size.next(all), 16_384n)
    size.passed(16_384n, 1)
    assert.strictEqual(size.next(all), 16_384n)
  })

  const kib = (size: number) => size / kibi
  test.each([
    [
      "grow to 8 MiB while they pass fast, and the last one is small",
      20 * mebi,
      () => 0,
      [256, 512, 1024, 2048, 4096, 8192, 4096, 256]
    ],
    [
      "grow again after a stall",
      6 * mebi,
      (_: number, index: number) => (index === 2 ? 31 : 0),
      [256, 512, 1024, 512, 1024, 2048]
    ],
    [
      "grow up to what a second allows, on a long way there and back",
      8 * mebi,
      (bytes: number) => 0.3 + bytes / (5 * mebi),
      [256, 512, 1024, 2048, 4096]
    ],
    [
      "grow again after a slow one",
      4 * mebi,
      (_: number, index: number) => (index === 2 ? 8 : 0),
      [256, 512, 1024, 512, 1024, 512]
    ],
    ["are at most chunkSize", 900 * kibi, () => 0, [256, 400, 244], 400 * kibi],
    ["may be below 16 KiB", 5 * kibi, (_: number, index: number) => (index === 0 ? 31 : 0), [1, 1, 1, 1, 1, 1], kibi]
  ] as const)("slices %s", (_, total, secondsOf, expected, chunkSize = undefined) => {
    const size = BodySize.make({ chunkSize, streams: false, known: undefined, remember: () => undefined })
    const sent: Array<number> = []
    for (let left = BigInt(total); left > 0n;) {
      const bytes = size.next(left)
      const seconds = secondsOf(Number(bytes), sent.push(Number(bytes)) - 1)
      if (seconds < 30) {
        size.passed(bytes, seconds * 1000)
        left -= bytes
      } else size.stalled()
    }
    assert.deepStrictEqual(sent.slice(0, expected.length).map(kib), [...expected])
  })

  test("begins with the known size of an origin, and keeps it", () => {
    const { size } = body(1_000_000n)
    assert.strictEqual(size.next(all), 1_000_000n)
    size.passed(1_000_000n, 1)
    assert.strictEqual(size.next(all), 1_000_000n)
  })
})
