/**
 * Proxies in front of the service that refuse large requests: nginx by default above 1 MiB, others above 5 MiB or 100 MB.
 */
import { UploadEvent, UploadSource } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as BodySize from "../src/internal/bodySize.ts"
import { assert, Behaviour, Clients, describe, Gateway, it, layerTest } from "./utils/index.ts"
import { Link, Scene, ScriptedTus, test, TusServer, Upload } from "./utils/index.ts"

const kibi = 1024
const mebi = 1024 * kibi

/** A server behind a proxy that refuses a body above `most` bytes while it arrives, and closes the connection. */
const make = (size: number, most: number) =>
  Gateway.make(size, {
    most,
    large: Behaviour.text(413, "<h1>413 Request Entity Too Large</h1>", { connection: "close" })
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
        const { arrived, stored, target } = yield* make(bytes.length, most)
        yield* Upload.run(target, source(), options)
        assert.isTrue(stored().equals(bytes))
        assert.isAtMost(Math.max(...arrived), most)
      }
    )
  }

  // `fetch` on Node reports the closed connection instead of the response.
  if (name !== "fetch") {
    it.live("the second upload to an origin begins with the size that passed", http, function* () {
      const { refused, stored, target } = yield* make(bytes.length, mebi)
      yield* Upload.run(target, UploadSource.fromBytes(bytes), options)
      assert.isAtLeast(refused.length, 1)
      refused.length = 0
      yield* Upload.run(target, UploadSource.fromBytes(bytes), options)
      assert.deepStrictEqual(refused, [])
      assert.isTrue(stored().equals(bytes))
    })
  }
})

it.live("a proxy that refuses 100 KiB: TooLarge, which names the refused sizes", Clients.beneath.undici, function* () {
  const { refused, target } = yield* make(mebi, 100 * kibi)
  let retries = 0
  const error = yield* Upload.events(target, UploadSource.fromBytes(Scene.content(mebi)), options).pipe(
    Stream.filter(UploadEvent.$is("Retrying")),
    Stream.runForEach(() => Effect.sync(() => retries++)),
    Effect.flip
  )
  assert.deepInclude(error, { _tag: "TooLarge", status: 413, tried: [mebi, 512 * kibi, 256 * kibi] })
  assert.deepStrictEqual(refused, [mebi, 512 * kibi, 256 * kibi])
  assert.strictEqual(retries, 2)
})

it.live("a stream that grows above tus-max-size: TooLarge, which names no tried size", Clients.undici, function* () {
  const server = yield* ScriptedTus.make
  server.meet = ({ method }, go) => {
    if (method === "OPTIONS") return ScriptedTus.withHeaders(go(), { "tus-max-size": "300000" })
    return method === "PATCH" && ScriptedTus.count(server, "PATCH") > 1 ? { status: 413 } : go()
  }
  const source = UploadSource.fromStream(Scene.pieces(Scene.content(mebi), 50_000))
  const error = yield* Effect.flip(Upload.run(server.target, source, { ...options, chunkSize: 200_000 }))
  assert(error._tag === "TooLarge", error._tag)
  assert.deepStrictEqual([error.maxSize, error.tried], [300_000n, undefined])
})

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
    const other = HttpClient.make(() => Effect.never)
    assert.strictEqual((yield* nextAt("https://a.example/2", other)).next(all), all)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* nextAt("https://a.example/2")).next(all), all)
  })

  type Size = ReturnType<typeof BodySize.make>
  const cuts = (size: Size, to: bigint, ...offsets: ReadonlyArray<bigint>) =>
    offsets.forEach((offset) => size.cut(offset, to))

  for (const [what, meet, expected, passed, known] of [
    ["the rest of the source until a body is refused", () => {}, all, []],
    [
      "half of a body after its 413, and remembered when it passed",
      (size) => {
        assert.isTrue(size.refused(all))
        size.passed(all / 2n, 1)
      },
      all / 2n,
      [all / 2n]
    ],
    [
      "256 KiB at least after 413",
      (size) => {
        assert.isTrue(size.refused(300_000n))
        assert.isFalse(size.refused(262_144n))
        assert.deepStrictEqual(size.tried, [300_000, 262_144])
      },
      262_144n,
      []
    ],
    ["as before after cuts at different offsets", (size) => cuts(size, all, 0n, 100n, 200n), all, []],
    ["16 KiB after two cuts at the same offset", (size) => cuts(size, all, 0n, 200n, 200n), 16_384n, []],
    [
      "doubled with each body that arrives after the cuts",
      (size) => {
        cuts(size, all, 200n, 200n)
        size.passed(16_384n, 1)
        size.passed(32_768n, 1)
      },
      65_536n,
      []
    ],
    [
      "not beyond the half of a body that was cut twice after a smaller body had arrived",
      (size) => {
        cuts(size, all, 0n, 0n)
        size.passed(16_384n, 1)
        cuts(size, 16_384n + 32_768n, 16_384n, 16_384n)
        assert.strictEqual(size.next(all), 16_384n)
        size.passed(16_384n, 1)
      },
      16_384n,
      []
    ],
    ["the known size of an origin, which is kept", (size) => size.passed(1_000_000n, 1), 1_000_000n, [], 1_000_000n]
  ] as ReadonlyArray<readonly [string, (size: Size) => void, bigint, ReadonlyArray<bigint>, bigint?]>) {
    test(`is ${what}`, () => {
      const remembered: Array<bigint> = []
      const remember = (bytes: bigint) => remembered.push(bytes)
      const size = BodySize.make({ chunkSize: undefined, streams: true, known, remember })
      if (known !== undefined) assert.strictEqual(size.next(all), known)
      meet(size)
      assert.strictEqual(size.next(all), expected)
      assert.deepStrictEqual(remembered, passed)
    })
  }

  const kib = (size: number) => size / kibi
  const third = (seconds: number) => (_: number, at: number) => (at === 2 ? seconds : 0)
  test.each([
    ["grow to 8 MiB while they pass fast", 20 * mebi, () => 0, [256, 512, 1024, 2048, 4096, 8192, 4096, 256]],
    ["grow again after a stall", 6 * mebi, third(31), [256, 512, 1024, 512, 1024, 2048]],
    ["grow to what a second allows", 8 * mebi, (size: number) => 0.3 + size / (5 * mebi), [256, 512, 1024, 2048, 4096]],
    ["grow again after a slow one", 4 * mebi, third(8), [256, 512, 1024, 512, 1024, 512]],
    ["are at most chunkSize", 900 * kibi, () => 0, [256, 400, 244], 400 * kibi],
    ["may be below 16 KiB", 5 * kibi, (_: number, at: number) => (at === 0 ? 31 : 0), [1, 1, 1, 1, 1, 1], kibi]
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
})

const { metadata } = Scene.options

type ALink = ReturnType<typeof Link.make>

/** An upload over a link, with the limits of time that hold by default. It has arrived. */
const over = Effect.fnUntraced(function* (
  aLink: ALink,
  size: number,
  kind: keyof ReturnType<typeof Scene.kinds> = "bytes",
  more: Partial<Upload.Options> = {}
) {
  const bytes = Scene.content(size)
  const { server, target } = yield* Scene.make()
  if (more.checksum !== undefined) server.checksums = [more.checksum]
  const { client, sent } = yield* aLink
  const events = yield* Upload.events(target, Scene.kinds(bytes)[kind](), { metadata, retryDelay: 0, ...more }).pipe(
    Stream.runCollect,
    Effect.provideService(HttpClient.HttpClient, client),
    Effect.provideService(Upload.CanStream, false)
  )
  assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
  return { events, sent }
})

const fast = Link.make(() => 0)
const withoutPort = (reason: string): string => reason.replace(/:\d+:/, ":")

const retries = (events: ReadonlyArray<UploadEvent.UploadEvent>) => events.filter(UploadEvent.$is("Retrying"))

layerTest(Clients.fetch)("Slices", (own) => {
  for (const kind of ["bytes", "a Blob", "a stream"] as const) {
    own.effect(`of ${kind} take at most 1.6 seconds on a slow link, once the link is known`, function* () {
      for (const rate of [20_000, 300_000]) {
        const { events, sent } = yield* over(Link.ofRate(rate), 1_000_000, kind)
        assert.deepStrictEqual(retries(events), [])
        assert.strictEqual(sent[0], 262_144)
        const settled = sent.slice(4)
        assert.isAtMost(Math.max(...settled), rate * 1.6)
        // As large as that allows, except at the end.
        assert.isAtLeast(Math.min(...settled.slice(0, -2)), rate / 2)
      }
    })

    own.effect(`of ${kind} are halved after a stall, down to 16 KiB`, function* () {
      const { events, sent } = yield* over(Link.ofRate(600), 300_000, kind)
      assert.deepStrictEqual(sent.slice(0, 6), [262_144, 131_072, 65_536, 32_768, 16_384, 16_384])
      assert.isTrue(sent.slice(5).every((size) => size <= 16_384))
      const reasons = retries(events).map(({ reason }) => withoutPort(reason))
      const stalled = "append at 127.0.0.1: nothing was sent or received for 30s"
      assert.deepStrictEqual(reasons, Array(4).fill(stalled))
    })

    own.effect(`of ${kind} are told as sent when they are answered, and not before`, function* () {
      const stallOnce = Link.make(({ index }) => (index === 1 ? 40 : 1))
      const { events } = yield* over(stallOnce, 1_000_000, kind)
      const progress = events.filter(UploadEvent.$is("Progress"))
      for (const { acknowledged, sent } of progress) assert.strictEqual(sent, acknowledged)
      assert.isAbove(progress.length, 2)
      assert.strictEqual(retries(events).length, 1)
      assert.isFalse(events.some(UploadEvent.$is("Finishing")))
    })
  }

  own.effect("with checksums are the same ones", function* () {
    const { events, sent } = yield* over(Link.ofRate(6000), 600_000, "bytes", { checksum: "sha256" })
    assert.deepStrictEqual(sent.slice(0, 5), [262_144, 131_072, 131_072, 131_072, 131_072])
    assert.strictEqual(retries(events).length, 1)
  })

  own.effect("of a part are learned by that part alone", function* () {
    const { sent } = yield* over(fast, 4 * mebi, "bytes", { parallel: 2 })
    const each = [256, 512, 1024, 256]
    const sizes = sent.map((size) => size / kibi)
    assert.sameMembers(sizes, [...each, ...each])
  })

  own.effect("leave the server the time to store the upload after the last one, and no longer", function* () {
    const late = (seconds: number) => Link.make(({ index }) => (index === 1 ? seconds : 1))
    const waited = yield* over(late(600), 300_000)
    assert.deepStrictEqual(retries(waited.events), [])
    const healed = yield* over(late(631), 300_000)
    const reasons = retries(healed.events).map(({ reason }) => withoutPort(reason))
    assert.deepStrictEqual(reasons, ["append at 127.0.0.1: nothing was sent or received for 10m 30s"])
  })
})
