/**
 * The status and the headers of an error decide, even if its body breaks off, never ends, is too large or is not text.
 */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Budget from "@assembly-effect/api/Budget"
import { Authenticator } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Deferred, Duration, Effect, Layer, Redacted, Schedule, Stream } from "effect"
import { HttpClient, type HttpClientResponse } from "effect/http"
import { senders } from "./utils/clients.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import * as Idle from "@assembly-effect/testkit/time/Idle"

type Http = Layer.Layer<HttpClient.HttpClient>

const token = "0123456789abcdef0123456789abcdef"

/** A client with its usual retries, and the time when the headers of its first response arrived. */
const clientAt = (
  server: Server.HostileServer,
  http: Http,
  options?: { readonly token?: string; readonly requestTimeout?: Duration.Input }
) => {
  const begun = Deferred.makeUnsafe<void>()
  const signalling = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transformResponse(
        Effect.map((response): HttpClientResponse.HttpClientResponse => {
          const stream = Stream.tap(response.stream, () => Deferred.succeed(begun, undefined))
          return Object.create(response, { stream: { value: stream } })
        })
      )
    )
  )
  const { requestTimeout, token: secret = token } = options ?? {}
  const layer = AssemblyClient.layer({ baseUrl: server.baseUrl, maxResponseBytes: 1024, requestTimeout }).pipe(
    Layer.provide([Authenticator.layerBearer(Redacted.make(secret)), Layer.provide(signalling, http)]),
    Layer.orDie
  )
  return { begun, layer }
}

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

/** Runs to the end. Time passes from the moment when the beginning of a body has arrived, after which nothing comes. */
const afterBeginning = <A, E, R>(effect: Effect.Effect<A, E, R>, begun: Deferred.Deferred<void>) =>
  Effect.gen(function* () {
    const idle = Idle.make()
    const fiber = yield* Effect.forkChild(idle.within(effect))
    yield* Deferred.await(begun)
    return (yield* Idle.passUntil(idle, fiber)).value
  })

/** The headers of a response and half of its body, then nothing. */
const hanging = (status: number, headers: Readonly<Record<string, string>> = {}): Server.Answer =>
  Server.hanging(status, { "content-type": "application/json", ...headers }, '{"error":"RATE_')

describe.each(senders)("with %s", (_name, http) => {
  const pause = { "retry-after": "300" }
  const limited = { _tag: "RateLimited", status: 429, retryAfter: Duration.minutes(5) }
  const refused = { _tag: "UnexpectedResponse", status: 403 }
  const endless = { ...refused, description: "a body that did not end within 5 s", excerpt: '{"error":"RATE_' }
  it.effect.each([
    ["a 429 whose body hangs", hanging(429, pause), {}, limited],
    ["a 403 whose body hangs beyond requestTimeout", hanging(403), { requestTimeout: "2 seconds" }, endless]
  ] as const)("%s fails with its status after one request", function* ([, answer, options, expected]) {
    const server = yield* Server.answering(answer)
    const { begun, layer } = clientAt(server, http, options)
    const error = yield* afterBeginning(Effect.flip(Effect.provide(list, layer)), begun)
    assert.deepInclude<object>(error, expected)
    assert.strictEqual(server.received.length, 1)
  })

  it.effect("an error whose body is too large, endless, not UTF-8 or incomplete has its status", function* () {
    const server = yield* Server.make
    const { layer } = clientAt(server, http)
    const cases: ReadonlyArray<readonly [Server.Answer, object]> = [
      [Server.text(403, "x".repeat(2000)), { description: "a body of more than 1024 bytes" }],
      [Server.endless(403), { description: "a body of more than 1024 bytes" }],
      [Server.text(403, new Uint8Array([0x7b, 0xff, 0xfe])), { description: "a body that is not UTF-8" }],
      [Server.cut(403, "x".repeat(100)), { description: "an incomplete body" }],
      [Server.text(429, "x".repeat(2000), pause), limited]
    ]
    for (const [answer, expected] of cases) {
      server.script(answer)
      const error = yield* Effect.flip(Effect.provide(list, layer))
      assert.deepInclude<object>(error, { ...refused, ...expected })
    }
    assert.strictEqual(server.received.length, cases.length)
  })

  it.effect("a 429 with an incomplete body fails with RateLimited behind a budget", function* () {
    const server = yield* Server.answering((_, response) => {
      response.writeHead(429, { ...pause, "content-length": 100 })
      response.write("{", () => response.destroy())
    })
    const error = yield* RetryPolicy.none(Effect.flip(list)).pipe(
      Effect.provide([clientAt(server, http).layer, Budget.layer()])
    )
    assert.deepInclude<object>(error, limited)
    assert.strictEqual(server.received.length, 1)
  })

  it.effect("a 200 with an incomplete body is retried like a lost response", function* () {
    const half = Server.cut(200, JSON.stringify({ items: [], count: 0 }))
    const server = yield* Server.answering(half, Server.json(200, []))
    const again = RetryPolicy.withPolicy(Schedule.recurs(1))
    const { items } = yield* list.pipe(again, Effect.provide(clientAt(server, http).layer))
    assert.deepStrictEqual(items, [])
    assert.strictEqual(server.received.length, 2)
  })
})

describe("a token that is repeated in an error", () => {
  const [[, http]] = senders as readonly [(typeof senders)[number]]
  const failure = (secret: string, answer: Server.Answer) =>
    Effect.gen(function* () {
      const server = yield* Server.answering(answer)
      return yield* Effect.flip(Effect.provide(list, clientAt(server, http, { token: secret }).layer))
    })

  it.effect.each(['"', "\\", "a"])("an error that repeats the token %j keeps its code and status", function* (secret) {
    const body = { error: "SOME_CODE", message: `it was <${secret}>, twice`, reason: [{ [`key ${secret}`]: secret }] }
    const error = yield* failure(secret, Server.json(403, body))
    assert.strictEqual(error._tag, "ServiceFailure")
    assert.deepInclude(error, { status: 403, code: "SOME_CODE" })
    if (secret === '"' || secret === "\\") {
      const reason = [{ "key <redacted>": "<redacted>" }]
      assert.deepInclude(error, { description: "it was <<redacted>>, twice", reason })
    }
  })
})
