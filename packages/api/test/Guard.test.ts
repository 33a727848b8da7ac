import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Guard from "@assembly-effect/api/Guard"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, status } from "./utils/operations.ts"

const ok = Service.json(200, status)

/** The scripted service behind a guard, and when each request reached it, in seconds. */
const guarded = (guard: Layer.Layer<HttpClient, never, HttpClient>, ...lines: ReadonlyArray<Service.Line>) => {
  const times: Array<number> = []
  const service = Service.make(
    ...lines.map(
      (line): Service.Line =>
        (request, url) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            times.push(now / 1000)
            return line(request, url)
          })
    )
  )
  const layer = Service.client({ ...service, layer: Layer.provide(guard, service.layer) }).pipe(
    Layer.provide(RetryPolicy.layerNone)
  )
  return { times, layer }
}

const passTime = (seconds: number) =>
  Effect.gen(function* () {
    for (let second = 0; second < seconds; second++) {
      for (let turn = 0; turn < 10; turn++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      yield* TestClock.adjust("1 second")
    }
  })

const get = Assemblies.get(assemblyId)

describe("a rate limiter", () => {
  it.effect("lets so many requests through in each window", () =>
    Effect.gen(function* () {
      const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 2, window: "10 seconds" }), ok)
      const all = Effect.forEach([1, 2, 3, 4, 5], () => get, { concurrency: "unbounded" })
      const fiber = yield* Effect.forkChild(Effect.provide(all, layer))
      yield* passTime(30)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(times, [0, 0, 10, 10, 20])
    })
  )

  it.effect.each([
    ["Retry-After", Service.json(429, { error: "RATE_LIMIT_REACHED" }, { "retry-after": "7" })],
    ["retryIn", Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 6.5 } })],
    [
      "the longer of both",
      Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 7 } }, { "retry-after": "2" })
    ]
  ] as const)("makes every request to the origin wait after a 429, which is still told: %s", ([, limited]) =>
    Effect.gen(function* () {
      const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 100, window: "1 second" }), limited, ok)
      const both = Effect.gen(function* () {
        const first = yield* Effect.flip(get)
        yield* get
        return first
      })
      const fiber = yield* Effect.forkChild(Effect.provide(both, layer))
      yield* passTime(20)
      const first = yield* Fiber.join(fiber)
      assert.deepInclude(first, { _tag: "RateLimited", code: "RATE_LIMIT_REACHED", status: 429 })
      assert.strictEqual(times.length, 2)
      assert.isAtLeast(times[1] ?? 0, 7)
    })
  )

  it.effect("tells a 429 with a body that nobody can read by its status", () =>
    Effect.gen(function* () {
      const endless = Service.text(429, "x".repeat(70_000))
      const { layer } = guarded(Guard.layerRateLimiter({ limit: 100, window: "1 second" }), endless)
      const error = yield* Effect.flip(Effect.provide(get, layer))
      assert.deepInclude(error, { _tag: "RateLimited", status: 429 })
    })
  )
})

describe("a circuit breaker", () => {
  it.effect("opens after failures in a row, fails as a lost connection does, and closes again", () =>
    Effect.gen(function* () {
      const breaker = Guard.layerCircuitBreaker({ failures: 3, openFor: "10 seconds" })
      const { layer, times } = guarded(breaker, Service.lost, Service.text(503, "<html>"), Service.lost, ok)
      const program = Effect.gen(function* () {
        const tags: Array<string> = []
        for (let call = 0; call < 5; call++) tags.push((yield* Effect.flip(get))._tag)
        const { message } = yield* Effect.flip(get)
        assert.include(message, "the circuit is open")
        yield* Effect.sleep("11 seconds")
        yield* get
        return tags
      })
      const fiber = yield* Effect.forkChild(Effect.provide(program, layer))
      yield* passTime(20)
      assert.deepStrictEqual(yield* Fiber.join(fiber), [
        "TransportFailure",
        "UnexpectedResponse",
        "TransportFailure",
        "TransportFailure",
        "TransportFailure"
      ])
      assert.strictEqual(times.length, 4)
    })
  )
})
