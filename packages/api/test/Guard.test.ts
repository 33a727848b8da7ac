import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Guard from "@assembly-effect/api/Guard"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, status } from "./utils/operations.ts"

const ok = Service.json(200, status)

/** The scripted service behind a guard. */
const guarded = (guard: Layer.Layer<HttpClient, InvalidRequest, HttpClient>, ...lines: ReadonlyArray<Service.Line>) => {
  const service = Service.make(...lines)
  const client = AssemblyClient.layer({ baseUrl: "https://api2.example.com" }).pipe(
    Layer.provide(guard),
    Layer.provide([Service.authenticated, service.layer, RetryPolicy.layerNone]),
    Layer.orDie
  )
  return { times: service.times, layer: client }
}

/** Runs an effect to its end on the TestClock. */
const toEnd = <A, E>(effect: Effect.Effect<A, E>) => Effect.map(Idle.passTime(effect), ({ value }) => value)

const get = Assemblies.get(assemblyId)

describe("a circuit breaker", () => {
  it.effect("opens after 3 failures, with TransportFailure and no request, for openFor", function* () {
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

  it.effect("is not opened by rate limits", function* () {
    const limits = [429, 413].map((code) => Service.json(code, { error: "RATE_LIMIT_REACHED" }))
    const { layer, times } = guarded(Guard.layerCircuitBreaker({ failures: 1 }), ...limits, ok)
    const tags = Effect.forEach([1, 2], () => Effect.map(Effect.flip(get), ({ _tag }) => _tag))
    assert.deepStrictEqual(yield* Effect.provide(Effect.tap(tags, get), layer), ["RateLimited", "RateLimited"])
    assert.lengthOf(times, 3)
  })
})
