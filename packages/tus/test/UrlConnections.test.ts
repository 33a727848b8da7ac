/** How a `WebSource` of a URL goes on after failures, and which connections it keeps meanwhile. */
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import { Tus, WebSource } from "@assembly-effect/tus"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Clock, Deferred, Duration, Effect, Fiber, Option, Schedule, Stream } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as TestClock from "effect/testing/TestClock"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as HostileServer from "@assembly-effect/testkit/hostile/HostileServer"
import { Clients, Scene, TusServer, WebResource } from "./utils/index.ts"

const bytes = Scene.content(100_000)

/** A resource that was described, and what is read of it. */
const make = Effect.gen(function* () {
  const resource = yield* WebResource.make(bytes)
  const source = yield* WebSource.fromUrl(resource.url)
  if (source._tag !== "Replayable") return yield* Effect.die(new Error("the source cannot be read again"))
  return { resource, stream: source.bytes(0n, source.size) }
})

const sum = (stream: Stream.Stream<Uint8Array, unknown>) => Effect.map(Stream.mkUint8Array(stream), TusServer.sha256)

/** Retries at once, and notes what it is told. */
const noting = () => {
  const told: Array<readonly [tag: string, failures: number, wait: number | undefined]> = []
  const policy = Schedule.forever.pipe(
    Schedule.setInputType<RetryPolicy.Failure>(),
    Schedule.tap(({ input: { error, failures, wait } }) =>
      Effect.sync(() => told.push([error._tag, failures, Option.getOrUndefined(Option.map(wait, Duration.toSeconds))]))
    )
  )
  return { told, policy }
}

describe("WebSource.fromUrl after a failure", () => {
  it.live("asks again after 429 and each 5xx, with the pause that the server asks for", Clients.undici, function* () {
    const { resource, stream } = yield* make
    const { policy, told } = noting()
    const answers = [
      HostileServer.text(429, "", { "retry-after": "1" }),
      HostileServer.text(500, ""),
      HostileServer.text(503, "", { "retry-after": "0" })
    ]
    resource.meet = (request, response, go, index) => (answers[index - 1] ?? (() => go()))(request, response)
    assert.strictEqual(yield* sum(stream).pipe(RetryPolicy.withPolicy(policy)), TusServer.sha256(bytes))
    assert.deepStrictEqual(told, [
      ["RateLimited", 1, 1],
      ["UnexpectedResponse", 2, undefined],
      ["UnexpectedResponse", 3, 0]
    ])
  })

  for (const [name, policy] of Object.entries({
    schedule: Schedule.recurs(1),
    policy: RetryPolicy.make({ retries: 1, base: "1 millis" })
  })) {
    it.live(`counts failures anew after new bytes, for a ${name} too`, Clients.undici, function* () {
      const { resource, stream } = yield* make
      resource.meet = (request, response, _, index) => {
        if (index % 2 === 1) return HostileServer.text(503, "")(request, response)
        const start = Number(/bytes=(\d+)/.exec(request.headers.range ?? "")?.[1])
        const headers = { etag: '"one"', "content-range": `bytes ${start}-${start + 19_999}/100000` }
        response.writeHead(206, headers).end(bytes.subarray(start, start + 20_000))
      }
      assert.strictEqual(yield* sum(stream).pipe(RetryPolicy.withPolicy(policy)), TusServer.sha256(bytes))
      assert.strictEqual(resource.requests.length, 1 + 10)
    })
  }

  it.effect("pauses before it asks again", Clients.undici, function* () {
    const asked: Array<number> = []
    const timing = HttpClient.transform(yield* HttpClient.HttpClient, (response) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        asked.push(now / 1000)
        return response
      })
    )
    // The first request describes the resource.
    const { resource, stream } = yield* Effect.provideService(make, HttpClient.HttpClient, timing)
    resource.meet = (_, response, go, index) => (index === 1 ? void response.writeHead(503).end() : go())
    const failed = yield* Deferred.make<void>()
    const policy = Schedule.tap(Schedule.spaced("1 minute"), () => Deferred.succeed(failed, undefined))
    const idle = Idle.make()
    const fiber = yield* sum(stream).pipe(RetryPolicy.withPolicy(policy), idle.within, Effect.forkChild)
    yield* Deferred.await(failed)
    yield* idle.settled
    yield* TestClock.adjust("59 seconds")
    yield* idle.settled
    assert.deepStrictEqual(asked, [0, 0])
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Fiber.join(fiber), TusServer.sha256(bytes))
    assert.deepStrictEqual(asked, [0, 0, 60])
  })

  for (const [what, status, headers] of [
    ["was refused", 503, {}],
    ["stalled", 206, { etag: '"one"', "content-range": "bytes 0-99999/100000" }]
  ] as const) {
    it.live(`keeps no connection whose response ${what}`, Clients.undici, function* () {
      const { resource, stream } = yield* make
      const closed = yield* Deferred.make<void>()
      resource.meet = (_, response, go, index) => {
        if (index !== 1) return go()
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        response.writeHead(status, headers)
        response.write(bytes.subarray(0, 10))
      }
      // The stream is not over, so nothing but the source itself frees the connection.
      const seen = stream.pipe(Stream.tap(() => (resource.requests.length < 3 ? Effect.void : Deferred.await(closed))))
      const { policy } = noting()
      yield* Stream.runDrain(seen).pipe(
        RetryPolicy.withPolicy(policy),
        Effect.provideService(Tus.RequestTimeout, Duration.millis(200))
      )
      assert.isAtLeast(resource.requests.length, 3)
    })
  }
})
