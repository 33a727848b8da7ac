/**
 * What `FetchClient` adds to `fetch`: limits, closed connections and causes. The suites of `api` send every operation with it.
 */
import { FetchClient } from "@assembly-effect/auth"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

const limits = { maxBytes: 1000, millis: Infinity }

const get = (origin: string, own = limits) =>
  HttpClient.HttpClient.use((client) => Sender.of(client)({ method: "GET", origin, path: "/a", headers: {} }, own))

/** Answers, and tells when the connection closes. */
const watched = (answer: Server.Answer) =>
  Effect.gen(function* () {
    const arrived = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const server = yield* Server.answering((request, response) => {
      response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      answer(request, response)
      Deferred.doneUnsafe(arrived, Effect.void)
    })
    return { arrived: Deferred.await(arrived), closed: Deferred.await(closed), origin: server.baseUrl }
  })

it.live.each([
  ["within 0 ms", 0, {}],
  ["within 1 s by a clock that skips waits", 1000, { sleep: () => Effect.void }]
] as const)("a request %s is Late, and is not sent", FetchClient.layer, function* ([, millis, changed]) {
  let requests = 0
  const fetch = async () => new Response(String(requests++))
  const clock = Object.assign(Object.create(yield* Clock.Clock), changed)
  const error = yield* Effect.flip(get("https://api.example.com", { ...limits, millis })).pipe(
    Effect.provideService(FetchHttpClient.Fetch, fetch),
    Effect.provideService(Clock.Clock, clock)
  )
  assert.deepStrictEqual([error._tag, requests], ["Late", 0])
})

it.live.each([
  ["50 ms and without a response is Late", Server.silence, 50, "Late"],
  ["30 days gets its response", Server.text(200, "a"), 30 * 24 * 60 * 60 * 1000, "whole"]
] as const)("on the real clock, a request within %s", FetchClient.layer, function* ([, answer, millis, expected]) {
  const { baseUrl } = yield* Server.answering(answer)
  const ended = Effect.match(get(baseUrl, { ...limits, millis }), {
    onSuccess: ({ end }) => end,
    onFailure: ({ _tag }) => _tag
  })
  assert.strictEqual(yield* ended, expected)
})

describe("a connection is closed", () => {
  it.effect.each([
    ["silence until the time is over", Server.silence, { ...limits, millis: 1000 }, "Late"],
    ["a response that stalls until the time is over", Server.stall(200), { ...limits, millis: 1000 }, "Late"],
    ["an endless body of more than maxBytes", Server.endless(200), limits, "tooLarge"]
  ] as const)("after %s", FetchClient.layer, function* ([, answer, own, expected]) {
    const { arrived, closed, origin } = yield* watched(answer)
    const ended = Effect.match(get(origin, own), { onSuccess: ({ end }) => end, onFailure: ({ _tag }) => _tag })
    const fiber = yield* Effect.forkChild(ended)
    yield* arrived
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Fiber.join(fiber), expected)
    yield* closed
  })

  it.live.each([
    ["before a response", Server.silence],
    ["in the middle of a response", Server.stall(200)]
  ] as const)("by an interruption %s", FetchClient.layer, function* ([, answer]) {
    const { arrived, closed, origin } = yield* watched(answer)
    const fiber = yield* Effect.forkChild(get(origin))
    yield* arrived
    yield* Fiber.interrupt(fiber)
    yield* closed
  })
})

type Fetched = (init: RequestInit) => Promise<unknown>

const fetching = (fetched: Fetched) => {
  const own = (async (_: unknown, init: RequestInit = {}) => fetched(init)) as typeof fetch
  return Layer.merge(FetchClient.layer, Layer.succeed(FetchHttpClient.Fetch, own))
}

describe("a fetch of the application", () => {
  it.effect.each([
    ["endless", Server.endless(200), "tooLarge"],
    ["stalled", Server.stall(200), "Late"]
  ] as const)("ignores the signal: the connection of its %s response is closed", function* ([, answer, expected]) {
    const { closed, origin } = yield* watched(answer)
    const begun = yield* Deferred.make<void>()
    const deaf = fetching(async (init) => {
      const response = await fetch(`${origin}/a`, { ...init, signal: null })
      Deferred.doneUnsafe(begun, Effect.void)
      return response
    })
    const own = { maxBytes: 1000, millis: expected === "Late" ? 1000 : Infinity }
    const ended = Effect.match(get(origin, own), { onSuccess: ({ end }) => end, onFailure: ({ _tag }) => _tag })
    const fiber = yield* Effect.forkChild(Effect.provide(ended, deaf))
    yield* Deferred.await(begun)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Fiber.join(fiber), expected)
    yield* closed
  })

  it.effect.each([
    ["redirect", { status: 302, url: "" }, 302],
    ["response from another URL", { status: 200, url: "https://other.example.com/a" }, "REQUEST_REDIRECTED"]
  ] as const)("ignores the signal: the body of its %s is canceled", function* ([, head, expected]) {
    const canceled = yield* Deferred.make<void>()
    const body = new ReadableStream({ cancel: () => void Deferred.doneUnsafe(canceled, Effect.void) })
    const ended = yield* Effect.match(get("https://api.example.com"), {
      onSuccess: ({ status }) => status,
      onFailure: (error) => ("code" in error ? error.code : error._tag)
    }).pipe(Effect.provide(fetching(async () => ({ ...head, headers: new Headers(), body }))))
    assert.strictEqual(ended, expected)
    yield* Deferred.await(canceled)
  })

  const alike = { status: 200, url: "", headers: new Headers(), arrayBuffer: async () => new Uint8Array([1, 2]).buffer }
  it.effect.each([
    ["no stream", alike],
    ["a stream of Node", { ...alike, body: { pipe: () => undefined } }]
  ] as const)("has responses with %s: their whole body is read", function* ([, response]) {
    const { bytes, end } = yield* Effect.provide(
      get("https://api.example.com"),
      fetching(async () => response)
    )
    assert.deepStrictEqual([Array.from(bytes), end], [[1, 2], "whole"])
  })

  it.effect("gives small pieces of large memories: the memories are not kept", function* () {
    const pieces = Array.from({ length: 100 }, (_, at) => new Uint8Array(1024 * 1024).fill(at).subarray(0, 1))
    const body = new ReadableStream({
      pull: (stream) => {
        const piece = pieces.shift()
        if (piece === undefined) stream.close()
        else stream.enqueue(piece)
      }
    })
    const { bytes } = yield* Effect.provide(
      get("https://api.example.com"),
      fetching(async () => new Response(body))
    )
    assert.deepStrictEqual(
      Array.from(bytes),
      Array.from({ length: 100 }, (_, at) => at)
    )
    assert.isBelow(bytes.buffer.byteLength, 1024)
  })

  it.effect("gets no content-length of RequestInit, and headers that cannot be sent are refused before", function* () {
    const seen: Array<unknown> = []
    const layer = fetching(async ({ headers }) => {
      seen.push(headers)
      return new Response("a")
    })
    const send = (headers: Record<string, string>) =>
      Effect.result(
        Effect.provideService(get("https://api.example.com"), FetchHttpClient.RequestInit, { headers })
      ).pipe(Effect.provide(layer))
    yield* send({ "content-length": "3", "X-A": "b" })
    const refused = yield* send({ "not a name": "a" })
    assert.deepStrictEqual(seen, [{ "x-a": "b" }])
    const lost = { code: "ERR_INVALID_ARG_TYPE", sent: "no", permanent: true }
    assert.deepInclude(refused._tag === "Failure" ? refused.failure : {}, lost)
  })
})

describe("a failure of fetch", () => {
  const unknown = Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } })
  const cut = new Response(new ReadableStream({ pull: (body) => body.error({ code: "ECONNRESET" }) }))
  it.effect.each([
    ["an unknown host", [unknown], { code: "ENOTFOUND", sent: "no", permanent: true }],
    [
      "an unknown host after a response",
      [new Response("a"), unknown],
      { code: "ENOTFOUND", sent: "no", permanent: false }
    ],
    [
      "a broken body",
      [cut],
      { description: "the server closed the connection in the middle of the response", sent: "maybe" }
    ]
  ] as const)("of %s is lost with its cause", function* ([, answers, expected]) {
    const left = [...answers]
    const fetched: typeof fetch = async () => {
      const next = left.shift()
      if (next instanceof Response) return next
      throw next
    }
    const calls = Effect.forEach(answers, () => Effect.result(get("https://api.example.com")))
    const results = yield* Effect.provide(calls, [FetchClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetched)])
    const last = results.at(-1)
    const lost = last?._tag === "Success" ? last.success.end : last?.failure
    assert.deepInclude(lost, expected)
  })
})
