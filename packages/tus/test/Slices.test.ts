/**
 * Bodies that the platform sends as a whole: nothing is seen of one until it is answered.
 */
import { UploadEvent, UploadSource } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"
import { HttpClient } from "effect/http"
import { assert, layerTest, Clients, Link, Scene, TusServer, Upload } from "./utils/index.ts"

const kibi = 1024
const mebi = 1024 * kibi
const { metadata } = Scene.options

type ALink = ReturnType<typeof Link.make>

const sources: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => UploadSource.UploadSource>> = {
  "a Blob": (bytes) => UploadSource.fromBlob(new Blob([bytes])),
  bytes: UploadSource.fromBytes,
  "a stream": (bytes) => UploadSource.fromStream(Scene.pieces(bytes, 50_000), { size: BigInt(bytes.length) })
}

/** An upload over a link, with the limits of time that hold by default. It has arrived. */
const over = Effect.fnUntraced(function* (
  aLink: ALink,
  size: number,
  make: (bytes: Uint8Array<ArrayBuffer>) => UploadSource.UploadSource = UploadSource.fromBytes,
  options: Partial<Upload.Options> = {}
) {
  const bytes = Scene.content(size)
  const { server, target } = yield* Scene.make()
  if (options.checksum !== undefined) server.checksums = [options.checksum]
  const { client, sent } = yield* aLink
  const events = yield* Upload.events(target, make(bytes), { metadata, retryDelay: 0, ...options }).pipe(
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

layerTest(Clients.fetch)("Slices", (it) => {
  for (const [kind, source] of Object.entries(sources)) {
    it.effect(`of ${kind} take at most 1.6 seconds on a slow link, once the link is known`, function* () {
      for (const rate of [20_000, 300_000]) {
        const { events, sent } = yield* over(Link.ofRate(rate), 1_000_000, source)
        assert.deepStrictEqual(retries(events), [])
        assert.strictEqual(sent[0], 262_144)
        const settled = sent.slice(4)
        assert.isAtMost(Math.max(...settled), rate * 1.6)
        // As large as that allows, except at the end.
        assert.isAtLeast(Math.min(...settled.slice(0, -2)), rate / 2)
      }
    })

    it.effect(`of ${kind} are halved after a stall, down to 16 KiB`, function* () {
      const { events, sent } = yield* over(Link.ofRate(600), 300_000, source)
      assert.deepStrictEqual(sent.slice(0, 6), [262_144, 131_072, 65_536, 32_768, 16_384, 16_384])
      assert.isTrue(sent.slice(5).every((size) => size <= 16_384))
      const reasons = retries(events).map(({ reason }) => withoutPort(reason))
      const stalled = "append at 127.0.0.1: nothing was sent or received for 30s"
      assert.deepStrictEqual(reasons, Array(4).fill(stalled))
    })

    it.effect(`of ${kind} are told as sent when they are answered, and not before`, function* () {
      const stallOnce = Link.make(({ index }) => (index === 1 ? 40 : 1))
      const { events } = yield* over(stallOnce, 1_000_000, source)
      const progress = events.filter(UploadEvent.$is("Progress"))
      for (const { acknowledged, sent } of progress) assert.strictEqual(sent, acknowledged)
      assert.isAbove(progress.length, 2)
      assert.strictEqual(retries(events).length, 1)
      assert.isFalse(events.some(UploadEvent.$is("Finishing")))
    })
  }

  it.effect("with checksums are the same ones", function* () {
    const { events, sent } = yield* over(Link.ofRate(6000), 600_000, UploadSource.fromBytes, { checksum: "sha256" })
    assert.deepStrictEqual(sent.slice(0, 5), [262_144, 131_072, 131_072, 131_072, 131_072])
    assert.strictEqual(retries(events).length, 1)
  })

  it.effect("of a part are learned by that part alone", function* () {
    const { sent } = yield* over(fast, 4 * mebi, UploadSource.fromBytes, { parallel: 2 })
    const each = [256, 512, 1024, 256]
    const sizes = sent.map((size) => size / kibi)
    assert.sameMembers(sizes, [...each, ...each])
  })

  it.effect("leave the server the time to store the upload after the last one, and no longer", function* () {
    const late = (seconds: number) => Link.make(({ index }) => (index === 1 ? seconds : 1))
    const waited = yield* over(late(600), 300_000)
    assert.deepStrictEqual(retries(waited.events), [])
    const healed = yield* over(late(631), 300_000)
    const reasons = retries(healed.events).map(({ reason }) => withoutPort(reason))
    assert.deepStrictEqual(reasons, ["append at 127.0.0.1: nothing was sent or received for 10m 30s"])
  })
})
