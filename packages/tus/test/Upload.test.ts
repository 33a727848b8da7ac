import { Effect, Layer, Stream } from "effect"
import { type UploadEvent, UploadSource } from "@assembly-effect/tus"
import { assert, layer, Clients, type Fault, HangClock, Scene, Tests, TusServer, Upload } from "./utils/index.ts"

const { content } = Scene

/** A server, and an upload to it that meets these faults. */
const scene = Effect.fnUntraced(function* (
  source: UploadSource.UploadSource,
  faults: ReadonlyArray<Fault> = [],
  more?: Partial<Upload.Options>
) {
  const { server, target } = yield* Scene.make(faults)
  return { server, run: Upload.events(target, source, { ...Scene.options, ...more }).pipe(Stream.runCollect) }
})

const tags = (events: ReadonlyArray<UploadEvent.UploadEvent>) =>
  Tests.pluck(events, "_tag").filter((tag) => tag !== "Progress")

for (const [client, clientLayer] of Object.entries(Clients.beneath)) {
  layer(Layer.merge(clientLayer, HangClock.layer))(`Upload with ${client}`, (it) => {
    it.effect.each([
      [1000, "POST 201", "Created, Completed"],
      [600_000, "POST 201, PATCH 204", "Created, Finishing, Completed"]
    ] as const)("a source of %d bytes is sent with %s", function* ([size, requests, events]) {
      const { run, server } = yield* scene(UploadSource.fromBytes(content(size)))
      assert.strictEqual(tags(yield* run).join(", "), events)
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(content(size)))
      assert.strictEqual(server.log.join(", "), requests)
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
