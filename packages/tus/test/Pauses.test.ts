/**
 * How long an upload waits: for an answer, and before it tries again. Time passes where a test says so.
 */
import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import { UploadSource } from "@assembly-effect/tus"
import { Deferred, Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { assert, layerTest, Clients, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const options = {
  metadata: Scene.options.metadata,
  retryDelay: "100 millis",
  stallTimeout: "1 second",
  finishTimeout: "60 seconds"
} as const

/** An upload whose events are seen as they come. */
const begin = Effect.fnUntraced(function* (
  server: ScriptedTus.ScriptedTus,
  size: number,
  more?: Partial<Upload.Options>
) {
  const events: Array<UploadEvent> = []
  const source = UploadSource.fromBytes(Scene.content(size))
  const fiber = yield* Upload.events(server.target, source, { ...options, ...more }).pipe(
    Stream.runForEach((event) => Effect.sync(() => events.push(event))),
    Effect.result,
    Effect.forkChild
  )
  return { events, fiber }
})

/** A server that holds the answers to requests of one kind back. */
const holding = Effect.fnUntraced(function* (method: ScriptedTus.Request["method"]) {
  const held = yield* Deferred.make<void>()
  const server = yield* ScriptedTus.changing(method, (go) => {
    const answer = go()
    return Effect.runPromise(Effect.as(Deferred.await(held), answer))
  })
  return { server, release: Deferred.succeed(held, undefined) }
})

const delaysOf = (events: ReadonlyArray<UploadEvent>) =>
  events.flatMap((event) => (event._tag === "Retrying" ? [Duration.toMillis(event.delay)] : []))

layerTest(Clients.undici)("An upload", (it) => {
  it.effect.each([
    ["a creation that is turned away", 10, ["POST"], 429],
    ["a question that is not answered", 300_000, ["PATCH", "HEAD"], 500]
  ] as const)(
    "doubles the pause after %s, up to 30 seconds, and takes half of it at least",
    function* ([, size, methods, status]) {
      const server = yield* ScriptedTus.make
      server.meet = ({ method }, go) => (methods.some((failing) => failing === method) ? { status } : go())
      const { events, fiber } = yield* begin(server, size, { maxRetries: 11 })
      for (let failures = 1; failures <= 11; failures++) {
        yield* Scene.soon(() => delaysOf(events).length === failures)
        const delay = delaysOf(events)[failures - 1] ?? 0
        const whole = Math.min(100 * 2 ** (failures - 1), 30_000)
        assert.isAtLeast(delay, whole / 2)
        assert.isAtMost(delay, whole)
        const before = server.requests.length
        yield* TestClock.adjust(delay - 1)
        assert.strictEqual(server.requests.length, before)
        yield* TestClock.adjust(1)
      }
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Failure")
    }
  )

  it.effect("gives the server finishTimeout after the last byte, not stallTimeout", function* () {
    const { release, server } = yield* holding("PATCH")
    const { events, fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => events.some(({ _tag }) => _tag === "Finishing"))
    yield* TestClock.adjust("59 seconds")
    yield* release
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.deepStrictEqual(delaysOf(events), [])
    assert.deepStrictEqual(server.requests, ["POST", "PATCH"])
  })

  it.effect("and asks where it stands when that is over", function* () {
    const { release, server } = yield* holding("PATCH")
    const { events, fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => events.some(({ _tag }) => _tag === "Finishing"))
    // Its time may begin a moment after the event.
    let seconds = 0
    for (; delaysOf(events).length === 0 && seconds < 600; seconds++) {
      yield* TestClock.adjust("1 second")
      yield* TestClock.withLive(Effect.sleep("1 millis"))
    }
    assert.isAtLeast(seconds, 60)
    assert.strictEqual(delaysOf(events).length, 1)
    yield* release
    yield* TestClock.adjust("1 second")
    yield* Scene.soon(() => server.requests.includes("HEAD"))
    yield* Fiber.interrupt(fiber)
  })

  it.effect.each([
    ["POST", 10, {}],
    ["FINAL", 2 * 1024 * 1024, { parallel: 2 }]
  ] as const)("gives the creation %s of %d bytes finishTimeout too", function* ([method, size, more]) {
    const { release, server } = yield* holding(method)
    const { fiber } = yield* begin(server, size, more)
    yield* Scene.soon(() => server.requests.includes(method))
    yield* TestClock.adjust("59 seconds")
    yield* release
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.notInclude(server.requests, "GET")
  })

  it.effect("gives a creation without bytes stallTimeout, and looks for its receipt then", function* () {
    const { release, server } = yield* holding("POST")
    const { fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => server.requests.length === 1)
    yield* TestClock.adjust("1 second")
    yield* Scene.soon(() => server.requests.includes("GET"))
    yield* release
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.strictEqual(server.requests.filter((method) => method === "POST").length, 1)
  })
})
