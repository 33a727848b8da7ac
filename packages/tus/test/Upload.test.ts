import { Effect, Layer, Stream } from "effect"
import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import { UploadSource } from "@assembly-effect/tus"
import { assert, layer, Clients, type Fault, HangClock, Scene, TusServer, Upload } from "./utils/index.ts"
import { content, options } from "./utils/Scene.ts"

const large = content(600_000)

/** A server, and an upload to it that meets these faults. */
const scene = Effect.fnUntraced(function* (
  source: UploadSource.UploadSource,
  faults: ReadonlyArray<Fault> = [],
  more?: Partial<Upload.Options>
) {
  const { server, target } = yield* Scene.make(faults)
  return { server, run: Upload.events(target, source, { ...options, ...more }).pipe(Stream.runCollect) }
})

const tags = (events: ReadonlyArray<UploadEvent>) => events.map(({ _tag }) => _tag).filter((tag) => tag !== "Progress")

/** The upload arrives whole in one creation, whatever it meets. */
const arrives = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  source: UploadSource.UploadSource,
  faults: ReadonlyArray<Fault> = [],
  more?: Partial<Upload.Options>
) {
  const { run, server } = yield* scene(source, faults, more)
  const events = yield* run
  assert.strictEqual(server.created.length, 1)
  assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
  assert.strictEqual(events.at(-1)?._tag, "Completed")
  assert.deepStrictEqual(server.faults, [], "every fault was met")
  return { events: tags(events), log: server.log, server }
})

for (const [client, clientLayer] of Object.entries(Clients.beneath)) {
  layer(Layer.merge(clientLayer, HangClock.layer))(`Upload with ${client}`, (it) => {
    it.effect("a small source goes in one round trip", function* () {
      const bytes = content(1000)
      const { events, log } = yield* arrives(bytes, UploadSource.fromBytes(bytes))
      assert.deepStrictEqual(log, ["POST 201"])
      assert.deepStrictEqual(events, ["Created", "Completed"])
    })

    it.effect("a large source is created, then sent in one request", function* () {
      const { events, log } = yield* arrives(large, UploadSource.fromBytes(large))
      assert.deepStrictEqual(log, ["POST 201", "PATCH 204"])
      assert.deepStrictEqual(events, ["Created", "Finishing", "Completed"])
    })

    it.effect("an early answer wins over the bytes still to send", function* () {
      const { run } = yield* scene(
        UploadSource.make({ size: 1n << 40n, bytes: () => Stream.forever(Stream.succeed(content(100_000))) }),
        [{ _tag: "Status", method: "PATCH", status: 413 }]
      )
      const error = yield* Effect.flip(run)
      assert.strictEqual(error._tag, "TooLarge")
    })
  })
}

layer(Layer.merge(Clients.undici, HangClock.layer))("Upload", (it) => {
  it.effect("a server that stalls in the middle counts as a failure that can heal", function* () {
    // More than the buffers of the kernel hold.
    const bytes = content(16 * 1024 * 1024)
    const stall: Fault = { _tag: "Stall", method: "PATCH", bytes: 100_000 }
    const source = UploadSource.fromBlob(new Blob([bytes]))
    const { run, server } = yield* scene(source, [stall], { finishTimeout: "10 minutes" })
    const events = yield* run
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
    assert.isBelow(tags(events).indexOf("Retrying"), tags(events).indexOf("Finishing"))
    // Not finishTimeout: that is for what the server does with all the bytes.
    const reason = `append at ${new URL(server.tusUrl).host}: nothing was sent or received for 30s`
    const retrying = events.find(({ _tag }) => _tag === "Retrying")
    assert.deepInclude(retrying, { reason })
  })
})
