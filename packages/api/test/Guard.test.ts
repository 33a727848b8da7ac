import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Guard from "@assembly-effect/api/Guard"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Result from "effect/Result"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, status } from "./utils/operations.ts"

const ok = Service.json(200, status)

/** The scripted service behind a guard, with the time of each request in seconds. */
const guarded = (
  guard: Layer.Layer<never, InvalidRequest> | Layer.Layer<HttpClient, InvalidRequest, HttpClient>,
  ...lines: ReadonlyArray<Service.Line>
) => {
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
  const client = AssemblyClient.layer({ baseUrl: "https://api2.example.com" }).pipe(
    Layer.provide(guard),
    Layer.provide([Service.authenticated, service.layer, RetryPolicy.layerNone]),
    Layer.orDie
  )
  return { times, layer: client }
}

/** Runs an effect to its end on the TestClock. */
const toEnd = <A, E>(effect: Effect.Effect<A, E>) => Effect.map(Idle.passTime(effect), ({ value }) => value)

const get = Assemblies.get(assemblyId)

describe("a rate limiter", () => {
  it.effect("a rate limiter starts at most `limit` requests in each window", () =>
    Effect.gen(function* () {
      const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 2, window: "10 seconds" }), ok)
      const all = Effect.forEach([1, 2, 3, 4, 5], () => get, { concurrency: "unbounded" })
      yield* toEnd(Effect.provide(all, layer))
      assert.deepStrictEqual(times, [0, 0, 10, 10, 20])
    })
  )

  it.effect.each([
    ["Retry-After", 7, Service.json(429, { error: "RATE_LIMIT_REACHED" }, { "retry-after": "7" })],
    ["retryIn", 6.5, Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 6.5 } })],
    [
      "the longer of both",
      7,
      Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 7 } }, { "retry-after": "2" })
    ]
  ] as const)("a 429 fails with RateLimited, and the next request waits for %s", ([, wait, limited]) =>
    Effect.gen(function* () {
      const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 100, window: "1 second" }), limited, ok)
      const both = Effect.gen(function* () {
        const first = yield* Effect.flip(get)
        yield* get
        return first
      })
      const first = yield* toEnd(Effect.provide(both, layer))
      assert.deepInclude(first, { _tag: "RateLimited", code: "RATE_LIMIT_REACHED", status: 429 })
      assert.strictEqual(times.length, 2)
      assert.isAtLeast(times[1] ?? 0, wait)
    })
  )

  it.effect("a 429 with an unreadable body fails with RateLimited", () =>
    Effect.gen(function* () {
      const endless = Service.text(429, "x".repeat(70_000))
      const { layer } = guarded(Guard.layerRateLimiter({ limit: 100, window: "1 second" }), endless)
      const error = yield* Effect.flip(Effect.provide(get, layer))
      assert.deepInclude(error, { _tag: "RateLimited", status: 429 })
    })
  )
})

describe("the wait for a permit", () => {
  it.effect("200 requests at one a second succeed, because the wait is not part of requestTimeout", () =>
    Effect.gen(function* () {
      const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 1, window: "1 second" }), ok)
      const tags = Effect.forEach(
        Array.from({ length: 200 }),
        () => Effect.map(Effect.result(get), (result) => (Result.isFailure(result) ? result.failure._tag : "read")),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(yield* toEnd(Effect.provide(tags, layer))), new Set(["read"]))
      assert.deepStrictEqual(
        times,
        Array.from({ length: 200 }, (_, second) => second)
      )
    })
  )

  it.effect("fails at once with RateLimited, and takes no permit, if the wait would end after the deadline", () =>
    Effect.gen(function* () {
      const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 1, window: "1 minute" }), ok)
      const outcome = Effect.flatMap(Effect.result(get), (result) =>
        Effect.map(Clock.currentTimeMillis, (now) => ({ result, second: now / 1000 }))
      )
      // The deadline is five minutes: the sixth request would start after it.
      const all = Effect.forEach([1, 2, 3, 4, 5, 6, 7], () => outcome, { concurrency: "unbounded" })
      const outcomes = yield* toEnd(Effect.provide(all, layer))
      assert.deepStrictEqual(times, [0, 60, 120, 180, 240])
      for (const { result, second } of outcomes.slice(5)) {
        assert.strictEqual(second, 0)
        assert(Result.isFailure(result) && result.failure._tag === "RateLimited")
        assert.isUndefined(result.failure.status)
        assert.strictEqual(Duration.toSeconds(result.failure.retryAfter), 300)
        assert.strictEqual(
          result.failure.message,
          "Assemblies.get: the rate limiter has no permit for 300 s; no request was sent"
        )
      }
    })
  )

  it.effect.each(["fixed-window", "token-bucket"] as const)(
    "leaves its permit and its place to the next requests when it is interrupted or refused (%s)",
    (algorithm) =>
      Effect.gen(function* () {
        const { layer, times } = guarded(Guard.layerRateLimiter({ limit: 1, window: "10 seconds", algorithm }), ok)
        const program = Effect.gen(function* () {
          yield* get
          yield* Effect.flip(AssemblyClient.withDeadline("5 seconds")(get))
          const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(get))
          yield* Effect.sleep("5 seconds")
          yield* Effect.forEach(waiting.slice(0, 2), Fiber.interrupt)
          yield* Fiber.joinAll(waiting.slice(2))
          yield* AssemblyClient.withDeadline("10001 millis")(get)
        })
        yield* toEnd(Effect.provide(program, layer))
        assert.deepStrictEqual(times, [0, 10, 20])
      })
  )

  it.effect("signs a request after the wait for its permit", () =>
    Effect.gen(function* () {
      const service = Service.make(Service.json(200, []))
      const client = Service.client(service).pipe(
        Layer.provide(Guard.layerRateLimiter({ limit: 1, window: "4 minutes" })),
        Layer.orDie
      )
      const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
      yield* toEnd(Effect.provide(Effect.all([list, list]), [client, RetryPolicy.layerNone]))
      const [first = 0, second = 0] = service.requests.map((url) =>
        Date.parse(JSON.parse(url.searchParams.get("params") ?? "").auth.expires)
      )
      assert.strictEqual(second - first, 240_000)
    })
  )

  it.effect("waits at most maxPause after a 429 with a longer retryIn, which RateLimited contains", () =>
    Effect.gen(function* () {
      const limited = Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 1e300 } })
      const guard = Guard.layerRateLimiter({ limit: 100, window: "1 second", maxPause: "2 minutes" })
      const { layer, times } = guarded(guard, limited, ok)
      const program = Effect.gen(function* () {
        const error = yield* Effect.flip(get)
        assert(error._tag === "RateLimited")
        assert.isAbove(Duration.toSeconds(error.retryAfter), 1e12)
        yield* get
      })
      yield* toEnd(Effect.provide(program, layer))
      assert.deepStrictEqual(times, [0, 120])
    })
  )

  it.effect("two limiters count separately, and one that two clients share counts both", () =>
    Effect.gen(function* () {
      const first = guarded(Guard.layerRateLimiter({ limit: 1, window: "1 hour" }), ok)
      const second = guarded(Guard.layerRateLimiter({ limit: 1, window: "1 hour" }), ok)
      // Nested, so that both exist at the same time.
      yield* Effect.provide(Effect.andThen(get, Effect.provide(get, second.layer)), first.layer)
      assert.deepStrictEqual([first.times, second.times], [[0], [0]])

      const shared = Guard.layerRateLimiter({ limit: 1, window: "1 hour" })
      const [one, other] = [guarded(shared, ok), guarded(shared, ok)]
      const both = Effect.all([Effect.provide(get, one.layer), Effect.provide(Effect.flip(get), other.layer)])
      const [, error] = yield* both.pipe(Effect.provide(shared))
      assert.strictEqual(error._tag, "RateLimited")
      assert.deepStrictEqual([one.times, other.times], [[0], []])
    })
  )
})

describe("a circuit breaker", () => {
  it.effect("opens after 3 failures, fails with TransportFailure without a request, and closes after openFor", () =>
    Effect.gen(function* () {
      const breaker = Guard.layerCircuitBreaker({ failures: 3, openFor: "10 seconds" })
      const { layer, times } = guarded(breaker, Service.lost, Service.text(503, "<html>"), Service.lost, ok)
      const program = Effect.gen(function* () {
        const tags: Array<string> = []
        for (let call = 0; call < 5; call++) tags.push((yield* Effect.flip(get))._tag)
        const { message } = yield* Effect.flip(get)
        assert.include(message, "the circuit breaker is open")
        yield* Effect.sleep("11 seconds")
        yield* get
        return tags
      })
      assert.deepStrictEqual(yield* toEnd(Effect.provide(program, layer)), [
        "TransportFailure",
        "UnexpectedResponse",
        "TransportFailure",
        "TransportFailure",
        "TransportFailure"
      ])
      assert.strictEqual(times.length, 4)
    })
  )

  it.effect("fails with TransportFailure, and sends nothing, if its store fails and onStoreError is `fail`", () =>
    Effect.gen(function* () {
      const failed = new CircuitBreaker.CircuitBreakerError({
        reason: new CircuitBreaker.CircuitBreakerStoreError({ message: "no connection to Redis" })
      })
      const store = Layer.succeed(CircuitBreaker.CircuitBreakerStore, {
        admit: () => Effect.fail(failed),
        record: () => Effect.fail(failed),
        state: () => Effect.fail(failed)
      })
      const breaker = CircuitBreaker.layer({
        tripPolicy: CircuitBreaker.consecutive(5),
        openDuration: "30 seconds",
        onStoreError: "fail"
      }).pipe(Layer.provide(store))
      const { layer, times } = guarded(Guard.layerCircuitBreakerNoDeps.pipe(Layer.provide(breaker)), ok)
      const { _tag, message } = yield* Effect.flip(Effect.provide(get, layer))
      assert.strictEqual(_tag, "TransportFailure")
      assert.include(message, "the store of the circuit breaker failed")
      assert.deepStrictEqual(times, [])
    })
  )
})
