/**
 * Web streams as sources of uploads.
 */
import { WebSource } from "@assembly-effect/tus"
import { Effect, Fiber } from "effect"
import { assert, layer, Clients, Scene, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(3_000_000)
const options = { ...Scene.options, chunkSize: 1_000_000 } as const

/** A web stream of pieces that are made when they are asked for, how many were made, and why it was canceled. */
const web = (
  end: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>,
  size = bytes.length
) => {
  const seen: { made: number; canceled: boolean } = { made: 0, canceled: false }
  const piece = 100_000
  const readable = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (seen.made >= size) return end(controller)
        controller.enqueue(bytes.subarray(seen.made, Math.min(size, seen.made + piece)))
        seen.made += piece
      },
      cancel: () => {
        seen.canceled = true
      }
    },
    { highWaterMark: 0 }
  )
  return { seen, readable }
}

layer(Clients.undici)("WebSource.fromReadableStream", (it) => {
  it.effect("uploads a web stream through a cut", function* () {
    const { server, target } = yield* Scene.make([{ _tag: "Cut", method: "PATCH", bytes: 300_000 }])
    const { readable } = web((controller) => controller.close())
    const source = WebSource.fromReadableStream(() => readable, { size: 3_000_000n })
    yield* Upload.run(target, source, options)
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
  })

  it.effect("reads no further than its window", function* () {
    const { server, target } = yield* Scene.make([{ _tag: "SlowAnswer", method: "PATCH", millis: 3_600_000 }])
    const { readable, seen } = web((controller) => controller.close())
    const fiber = yield* Effect.forkChild(
      Upload.run(
        target,
        WebSource.fromReadableStream(() => readable),
        options
      )
    )
    while (!server.requests.includes("PATCH")) yield* Effect.sleep("1 millis")
    assert.isAtMost(seen.made, 1_100_000)
    assert.isFalse(seen.canceled)
    yield* Fiber.interrupt(fiber)
    assert.isTrue(seen.canceled)
    assert.isFalse(readable.locked)
  })

  const read = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
  void read.cancel()

  const ending = (error: unknown, size: number) => () => web((controller) => controller.error(error), size).readable
  const text = (): unknown => new Response("text").body?.pipeThrough(new TextDecoderStream())
  const locked = () => {
    const { readable } = web(() => undefined)
    readable.getReader()
    return readable
  }
  const missing = () => {
    throw new Error("no such file")
  }
  it.effect.each([
    ["that fails", ending(new Error("the disk is gone"), 2_500_000), "the disk is gone"],
    ["that fails without an Error", ending({ _tag: "DiskGone" }, 0), "reading failed with DiskGone"],
    ["that is locked", locked, "the ReadableStream is locked"],
    ["that was read before", () => read, "bytes of the ReadableStream were already read"],
    ["that is none", () => null, "evaluate returned no ReadableStream"],
    ["that cannot be made", missing, "no such file"],
    ["of text", text, "a piece is not a Uint8Array, or its memory was transferred"]
  ] as ReadonlyArray<readonly [string, () => unknown, string]>)(
    "is SourceFailed for a stream %s, and heals nothing",
    function* ([, evaluate, description]) {
      const { server, target } = yield* Scene.make()
      const source = WebSource.fromReadableStream(evaluate as () => ReadableStream<Uint8Array>)
      const error = yield* Effect.flip(Upload.run(target, source, options))
      assert.deepInclude(error, { _tag: "SourceFailed", kind: "Unreadable", description })
      assert.notInclude(server.requests, "HEAD")
    }
  )

  it.effect("is SourceFailed for the second upload, and not an empty file", function* () {
    const { server, target } = yield* Scene.make()
    const { readable } = web((controller) => controller.close())
    const source = WebSource.fromReadableStream(() => readable)
    yield* Upload.run(target, source, options)
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
    assert.strictEqual((yield* Effect.flip(Upload.run(target, source, options)))._tag, "SourceFailed")
  })
})
