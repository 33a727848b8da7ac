/**
 * A status decides before the body that follows it, and what cannot heal is not repeated.
 */
import { RetryPolicy } from "@assembly-effect/api"
import { Tus, UploadSource } from "@assembly-effect/tus"
import { Duration, Effect, Fiber, Schedule } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import type { IncomingMessage, ServerResponse } from "node:http"
import { assert, describe, it, Behaviour, Idle, Loopback, Scene, ScriptedTus, Upload } from "./utils/index.ts"

/** A server that answers each method as it says, and the methods that came. */
const make = Effect.fnUntraced(function* (answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const methods: Array<string> = []
  const baseUrl = yield* Loopback.serve(async (request, response) => {
    for await (const _chunk of request);
    methods.push(request.method ?? "")
    answer(request, response)
  })
  const target = yield* Scene.targetAt(baseUrl)
  return { baseUrl, methods, target }
})

const tus = { "tus-resumable": "1.0.0" }

/** Half a body, and nothing more. */
const hanging = (response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}) =>
  Behaviour.hanging(status, { ...tus, ...headers }, "NO")(undefined, response)

/**
 * Runs with a clock that goes on once the head of the first answer is there, and stops at the next request, which would
 * stall otherwise.
 */
const withoutWaiting = <A, E>(effect: Effect.Effect<A, E, HttpClient.HttpClient>) =>
  Effect.gen(function* () {
    const answered = Promise.withResolvers<void>()
    let sent = 0
    const fetch: typeof globalThis.fetch = (url, init) => {
      sent++
      return globalThis.fetch(url, init).finally(() => answered.resolve())
    }
    const idle = Idle.make()
    const fiber = yield* Effect.forkChild(idle.within(Effect.provideService(effect, FetchHttpClient.Fetch, fetch)))
    yield* Effect.promise(() => answered.promise)
    for (let second = 0; second < 6; second++) {
      // The next request begins in the same settling as the end of the wait before it.
      yield* idle.settled
      if (sent > 1) break
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(FetchHttpClient.layer))

const source = UploadSource.fromBytes(Scene.content(300_000))

describe("an answer whose body hangs", () => {
  const options = { ...Scene.options, stallTimeout: "1 second" } as const

  it.effect("is refused by its status, though the time for a request is shorter", function* () {
    const { methods, target } = yield* make((_, response) => hanging(response, 403))
    const error = yield* withoutWaiting(Effect.flip(Upload.run(target, source, options)))
    assert.deepInclude(error, { _tag: "UploadRefused", request: "create", status: 403 })
    assert.deepStrictEqual(methods, ["POST"])
  })

  it.effect("has created the upload that its headers tell, though the time for a request is shorter", function* () {
    const { methods, target } = yield* make((request, response) => {
      if (request.method === "POST") hanging(response, 201, { location: "/resumable/files/abc" })
      else response.writeHead(204, { ...tus, "upload-offset": "300000" }).end()
    })
    yield* withoutWaiting(Upload.run(target, source, options))
    assert.deepStrictEqual(methods, ["POST", "PATCH"])
  })

  it.effect("tells its wait", function* () {
    const { target } = yield* make((_, response) => hanging(response, 429, { "retry-after": "30" }))
    const { metadata } = Scene.options
    const error = yield* withoutWaiting(Effect.flip(Tus.create(target, { _tag: "Fixed", length: 5n, metadata })))
    assert.deepInclude(error, { _tag: "RateLimited", status: 429, retryAfter: Duration.seconds(30) })
  })
})

describe("a failure that is permanent", () => {
  it.live("is not healed: changed bodies end the upload at its first PATCH", FetchHttpClient.layer, function* () {
    const { requests, target } = yield* ScriptedTus.make
    const changing = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) =>
      request.body._tag === "Empty"
        ? request
        : HttpClientRequest.setBody(request, HttpBody.uint8Array(new Uint8Array(7), "application/offset+octet-stream"))
    )
    const run = Upload.run(target, source, Scene.options).pipe(RetryPolicy.withPolicy(Schedule.recurs(1)))
    const error = yield* Effect.flip(Effect.provideService(run, HttpClient.HttpClient, changing))
    assert.deepInclude(error, { _tag: "TransportFailure", code: "BODY_CHANGED", sent: "no", permanent: true })
    assert.deepStrictEqual(requests, ["POST"])
  })

  it.live("a PATCH that the client would repeat is asked about by HEAD", FetchHttpClient.layer, function* () {
    const { requests, target } = yield* ScriptedTus.changing("PATCH", (go, index) =>
      index === 0 ? { status: 503 } : go()
    )
    const repeating = HttpClient.retryTransient(yield* HttpClient.HttpClient, { times: 3 })
    yield* Effect.provideService(Upload.run(target, source, Scene.options), HttpClient.HttpClient, repeating)
    assert.deepStrictEqual(requests, ["POST", "PATCH", "HEAD", "PATCH"])
  })
})
