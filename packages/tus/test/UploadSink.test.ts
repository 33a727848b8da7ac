/**
 * Streams that end in `Upload.sink`: whatever happens to the stream, to the network or to the consumer.
 */
import { assert, layer, layerTest } from "@assembly-effect/testkit/flow"
import { Cause, Data, Deferred, Effect, Exit, Fiber, Metric, Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import { Clients, type Fault, Scene, Servers, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(3_000_000)
const options = { ...Scene.options, chunkSize: 1_000_000 } as const

class RowsFailed extends Data.TaggedError("RowsFailed")<{ readonly row: number }> {}

/** Bytes that are emitted one piece after another. */
const pieces = (content: Uint8Array, size: number) => Stream.rechunk(Scene.pieces(content, size), 1)

/** A stream that ends like this after its first 2,100,000 bytes, when two requests were sent. */
const broken = <E>(end: Stream.Stream<never, E>) => Stream.concat(pieces(bytes.subarray(0, 2_100_000), 50_000), end)

/** The number of bytes that a server has acknowledged, as the client hears it. */
const acknowledged = (client: HttpClient.HttpClient) => {
  const told = { offset: 0 }
  const counting = HttpClient.transformResponse(
    client,
    Effect.tap((response) =>
      Effect.sync(() => void (told.offset = Math.max(told.offset, Number(response.headers["upload-offset"] ?? 0))))
    )
  )
  return { told, counting }
}

/** How an effect ends, and the outcomes of its uploads in the metrics. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(effect)
    const all = (yield* Metric.snapshot).filter(({ id }) => id === "assembly_uploads")
    return { exit, metrics: all.map(({ attributes }) => attributes?.["outcome"]) }
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

const clients = { undici: Clients.undici, fetch: Clients.fetch }

for (const [name, client] of Object.entries(clients)) {
  layer(client)(`Upload.sink with ${name}`, (it) => {
    for (const [server, open] of Object.entries(Servers.places)) {
      it.effect(`uploads a stream to ${server}`, function* () {
        const place = yield* open
        yield* Stream.run(pieces(bytes, 70_000), Upload.sink(place.target, options))
        assert.strictEqual(yield* place.sha256, TusServer.sha256(bytes))
      })

      it.effect(`terminates the upload at ${server} when the stream fails`, function* () {
        const place = yield* open
        const exit = yield* Effect.exit(
          Stream.run(broken(Stream.fail(new RowsFailed({ row: 7 }))), Upload.sink(place.target, options))
        )
        assert.deepStrictEqual(exit, Exit.fail(new RowsFailed({ row: 7 })))
        assert.deepStrictEqual(place.requests, ["POST", "PATCH", "PATCH", "DELETE"])
      })
    }

    it.effect("sends 16 windows through five cuts, and holds at most one and a piece", function* () {
      const unit = 256 * 1024
      const piece = 48 * 1024
      const window = 4 * unit
      const size = 64 * unit
      const cut = (at: number): Fault => ({ _tag: "Cut", method: "PATCH", bytes: at })
      const passed: Fault = { _tag: "SlowAnswer", method: "PATCH", millis: 0 }
      // The second cut is that of the request after the first one, and the last one that of the end of a body.
      const cuts = [cut(unit), cut(2 * unit), passed, cut(1), passed, passed, cut(3 * unit), passed, cut(window - 1)]
      const { server, target } = yield* Scene.make(cuts)
      const { counting, told } = acknowledged(yield* HttpClient.HttpClient)
      let read = 0
      let most = 0
      const stream = Stream.map(pieces(Scene.content(size), piece), (part) => {
        read += part.length
        most = Math.max(most, read - told.offset)
        return part
      })
      const sink = Upload.sink(target, { ...options, chunkSize: window })
      const { length } = yield* Effect.provideService(Stream.run(stream, sink), HttpClient.HttpClient, counting)
      assert.strictEqual(length, BigInt(size))
      assert.deepStrictEqual(server.faults, [], "every fault was met")
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(Scene.content(size)))
      // One byte more shows whether the stream goes on.
      assert.isAtMost(most, window + piece)
      assert.isAbove(most, window)
    })
  })
}

layer(Clients.undici)("Upload.sink", (it) => {
  it.effect.each([
    ["dies", Stream.die(new Error("a bug")), (cause: Cause.Cause<unknown>) => Cause.hasDies(cause)],
    ["is interrupted", Stream.fromEffect(Effect.interrupt), Cause.hasInterruptsOnly]
  ] as const)("ends as the stream does when it %s, and heals nothing", function* ([, end, is]) {
    const { server, target } = yield* Scene.make()
    const { metrics, exit } = yield* counted(Stream.run(broken(end), Upload.sink(target, options)))
    assert.isTrue(Exit.isFailure(exit) && is(exit.cause))
    assert.deepStrictEqual(server.requests, ["POST", "PATCH", "PATCH", "DELETE"])
    assert.deepStrictEqual(server.log.at(-1), "DELETE 204")
    // A failure of the source, and no defect.
    assert.deepStrictEqual(metrics, ["SourceFailed"])
  })

  it.effect("keeps the upload of a failed stream if it is told to", function* () {
    const { server, target } = yield* Scene.make()
    const sink = Upload.sink(target, { ...options, onFailure: "keep" })
    const error = yield* Effect.flip(Stream.run(broken(Stream.fail(new RowsFailed({ row: 7 }))), sink))
    assert.strictEqual(error._tag, "RowsFailed")
    assert.deepStrictEqual(server.requests, ["POST", "PATCH", "PATCH"])
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes.subarray(0, 2_000_000)))
  })

  it.effect("creates nothing if the stream fails within its first window", function* () {
    const { server, target } = yield* Scene.make()
    const stream = Stream.concat(Stream.make(bytes.subarray(0, 100)), Stream.fail(new RowsFailed({ row: 1 })))
    const error = yield* Effect.flip(Stream.run(stream, Upload.sink(target, options)))
    assert.strictEqual(error._tag, "RowsFailed")
    assert.deepStrictEqual(server.requests, [])
  })

  it.effect.each(["terminate", "keep"] as const)(
    "leaves nothing running when the consumer is interrupted (%s)",
    function* (onFailure) {
      const { server, target } = yield* Scene.make()
      const reached = yield* Deferred.make<void>()
      let released = false
      const stream = broken(Stream.fromEffect(Effect.andThen(Deferred.succeed(reached, undefined), Effect.never))).pipe(
        Stream.ensuring(Effect.sync(() => void (released = true)))
      )
      const fiber = yield* Effect.forkChild(Stream.run(stream, Upload.sink(target, { ...options, onFailure })))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(released)
      const expected = ["POST", "PATCH", "PATCH"]
      assert.deepStrictEqual(server.requests, onFailure === "keep" ? expected : [...expected, "DELETE"])
    }
  )

  it.effect("fails with the error of the upload, reads no further, and terminates", function* () {
    const refused: Fault = { _tag: "Status", method: "PATCH", status: 403, body: "no" }
    const { server, target } = yield* Scene.make([refused])
    let pulled = 0
    const stream = Stream.tap(pieces(bytes, 100_000), () => Effect.sync(() => pulled++))
    const error = yield* Effect.flip(Stream.run(stream, Upload.sink(target, options)))
    assert.strictEqual(error._tag, "UploadRefused")
    assert.isBelow(pulled, 20)
    assert.deepStrictEqual(server.requests, ["POST", "PATCH", "DELETE"])
  })

  it.effect("checks its options before it reads", function* () {
    const { target } = yield* Scene.make()
    const sink = Upload.sink(target, { ...options, chunkSize: 0 })
    const error = yield* Effect.flip(Stream.run(Stream.die(new Error("it was read")), sink))
    assert.strictEqual(error._tag, "InvalidRequest")
  })

  it.effect("leaves the stream its scope and its span", function* () {
    const { target } = yield* Scene.make()
    const scope = yield* Scope.make()
    const log = new Set<string>()
    const release = Effect.addFinalizer(() => Effect.sync(() => log.add("released")))
    const note = Effect.map(Effect.currentSpan, ({ name }) => log.add(name))
    const rows = Stream.tap(pieces(bytes, 500_000), () => Effect.andThen(release, note))
    yield* Stream.run(rows, Upload.sink(target, options)).pipe(
      Effect.withSpan("the caller"),
      Effect.provideService(Scope.Scope, scope)
    )
    assert.deepStrictEqual([...log], ["the caller"])
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual([...log], ["the caller", "released"])
  })
})

layerTest(Clients.undici)("Upload.sink, at a server that does not answer its last request", (it) => {
  // Nothing but the clock ends a request that the server has received and never answers.
  const untilRemoval = (server: TusServer.TusServer) => Scene.soon(() => server.requests.includes("DELETE"))

  it.effect("fails with the error of the stream after five seconds", function* () {
    const { server, target } = yield* Scene.make([{ _tag: "NoAnswer", method: "DELETE" }])
    const idle = Idle.make()
    const fiber = yield* Stream.run(broken(Stream.fail(new RowsFailed({ row: 7 }))), Upload.sink(target, options)).pipe(
      Effect.flip,
      idle.within,
      Effect.forkChild
    )
    yield* untilRemoval(server)
    const { seconds, value } = yield* Idle.passUntil(idle, fiber)
    assert.isAtMost(seconds, 7)
    assert.strictEqual(value._tag, "RowsFailed")
  })

  it.effect("makes an interruption wait for a second", function* () {
    const { server, target } = yield* Scene.make([{ _tag: "NoAnswer", method: "DELETE" }])
    const reached = yield* Deferred.make<void>()
    const waiting = broken(Stream.fromEffect(Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)))
    const idle = Idle.make()
    const fiber = yield* Effect.forkChild(idle.within(Stream.run(waiting, Upload.sink(target, options))))
    yield* Deferred.await(reached)
    const interruption = yield* Effect.forkChild(idle.within(Fiber.interrupt(fiber)))
    yield* untilRemoval(server)
    assert.isAtMost((yield* Idle.passUntil(idle, interruption)).seconds, 3)
  })
})
