import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { Authenticator } from "@assembly-effect/auth"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Duration, Effect, Fiber, Layer, Schedule, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import type { HttpClient } from "effect/http/HttpClient"
import { TestClock } from "effect/testing"
import type { Socket } from "node:net"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, cases } from "./utils/operations.ts"
import * as Spans from "@assembly-effect/testkit/observed/Spans"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const authenticated = Layer.orDie(Authenticator.layerSigned()).pipe(Layer.provide(Service.credentials))

const layerFor = (baseUrl: string, http: Layer.Layer<HttpClient>) =>
  AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticated, http, RetryPolicy.layerNone]), Layer.orDie)

const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
const provide = (service: ReturnType<typeof Service.make>) =>
  Effect.provide(Service.client(service).pipe(Layer.provide(RetryPolicy.layerNone)))

describe("the base URL", () => {
  const build = (options: AssemblyClient.Options) =>
    Layer.build(AssemblyClient.layer(options)).pipe(
      Effect.scoped,
      Effect.provide([authenticated, FetchHttpClient.layer])
    )

  it.effect("AssemblyClient.layer refuses a base URL over http, and names each invalid origin", function* () {
    assert.deepStrictEqual((yield* Effect.flip(build({ baseUrl: "http://api2.example.com" }))).issues[0]?.path, [
      "baseUrl"
    ])
    const origins = ["https://up-*.example.com", "*", "https://up.example.com/path", "http://up.example.com"]
    const { issues } = yield* Effect.flip(build({ baseUrl: "https://api2.example.com", origins }))
    assert.strictEqual(issues.map(({ path }) => path.join(".")).join(), "origins.1,origins.2,origins.3")
    assert.include(issues[2]?.message, "Expected https (http on loopback only where the base URL is on loopback)")
  })
})

describe("a base URL with a path", () => {
  for (const [baseUrl, advises] of [
    ["https://api2.example.com/wrong", true],
    ["https://api2.example.com", false]
  ] as const) {
    it.effect(`SERVER_404 ${advises ? "advises" : "does not advise"} to check the path of ${baseUrl}`, function* () {
      const service = Service.make(Service.json(404, { error: "SERVER_404", message: "no such page" }))
      const error = yield* Effect.flip(Assemblies.list({ fromDate: DateTime.makeUnsafe(0) })).pipe(
        Effect.provide(Service.client(service, { baseUrl }))
      )
      assert.strictEqual(
        error.message,
        `Assemblies.list failed with SERVER_404, status 404: no such page${advises ? "; the path of the base URL is probably wrong" : ""}`
      )
    })
  }
})

describe("input", () => {
  it.effect("input fails with InvalidRequest and every broken rule, and sends no request", function* () {
    const service = Service.make(Service.json(200, {}))
    const error = yield* Assemblies.list({
      fromDate: DateTime.makeUnsafe(8_640_000_000_000_000),
      pageSize: 5001,
      type: "lost" as "all"
    }).pipe(provide(service), Effect.flip)
    assert.instanceOf(error, InvalidRequest)
    const paths = error._tag === "InvalidRequest" ? error.issues.map(({ path }) => path.join(".")) : []
    assert.sameMembers(paths, ["pageSize", "type", "fromDate"])
    assert.strictEqual(service.requests.length, 0)
  })

  const day = Duration.days(1)
  it.effect.prop(
    "statistics with `since` more than 91 days ago fails with InvalidRequest, to the millisecond",
    { offset: Schema.Int.check(Schema.isBetween({ minimum: -100_000, maximum: 100_000 })), text: Schema.Boolean },
    ({ offset, text }) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.UTC(2026, 5, 1))
        const limit = DateTime.subtractDuration(yield* DateTime.now, Duration.times(day, 91))
        const instant = DateTime.add(limit, { milliseconds: offset })
        const service = Service.make(Service.json(400, { error: "ASSEMBLY_STATS_ERROR" }))
        const since = text ? DateTime.formatIso(instant) : instant
        const error = yield* Effect.flip(Assemblies.statistics({ region: "all", since })).pipe(provide(service))
        assert.strictEqual(error._tag, offset < 0 ? "InvalidRequest" : "StatisticsUnavailable")
        assert.strictEqual(service.requests.length, offset < 0 ? 0 : 1)
      })
  )

  it.effect("statistics sends `since` in any other text, and fails with the error of the service", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 5, 1))
    const service = Service.make(Service.json(400, { error: "ASSEMBLY_STATS_INVALID_TIME" }))
    for (const since of ["200 days ago", "2020-01-01", "2020-01-01T00:00:00", "2020-13-01T00:00:00Z"]) {
      const error = yield* Effect.flip(Assemblies.statistics({ region: "all", since })).pipe(provide(service))
      assert.strictEqual(error._tag, "StatisticsInvalidTime", since)
    }
  })
})

describe("a wrong clock", () => {
  const expired = (date: string) => Service.json(400, { error: "AUTH_EXPIRED", message: "expired" }, { date })
  const expiries = (service: ReturnType<typeof Service.make>) =>
    service.requests.map((url) => Date.parse(JSON.parse(url.searchParams.get("params") ?? "").auth.expires))

  const now = "Thu, 01 Jan 2026 00:00:00 GMT"
  const half = "Thu, 01 Jan 2026 00:30:00 GMT"
  const ahead = "Thu, 01 Jan 2026 01:00:00 GMT"
  const behind = "Wed, 31 Dec 2025 23:00:00 GMT"
  const listed = (date?: string) => Service.json(200, [], date === undefined ? {} : { date })
  const unknown = Service.json(404, { error: "X" }, { date: now })

  /** By how many minutes the expiry of each further signature differs from that of the first one. */
  const after = (minutes: ReadonlyArray<number>, answers: ReadonlyArray<Service.Line>) => ({ answers, minutes })
  const corrections = {
    "signs again after AUTH_EXPIRED with the time of the Date header": after([60, 0], [expired(ahead), listed()]),
    "signs later operations with the corrected clock until the next AUTH_EXPIRED": after(
      [60, 60, 60, -60],
      [expired(ahead), listed(ahead), listed(ahead), expired(behind), listed(behind)]
    ),
    "forgets a correction that a success does not confirm": after([60, 0, 0], [expired(ahead), listed(now), listed()]),
    "forgets a correction that an error does not confirm": after([60, 0, 0], [expired(ahead), unknown, listed()]),
    "forgets a correction that AUTH_EXPIRED contradicts": after([60, 0, 0], [expired(ahead), expired(half), listed()]),
    "forgets a correction that gets AUTH_EXPIRED again": after([60, 0, 0], [expired(ahead), expired(ahead), listed()]),
    "forgets a correction that nothing confirms": after([60, 0, 0], [expired(ahead), listed(), listed()]),
    "signs with the local clock after a response with the local time": after(
      [30, 30, 0],
      [expired(half), listed(half), listed(now), listed()]
    )
  }
  it.effect.each(Object.entries(corrections))("%s", function* ([, { answers, minutes }]) {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const service = Service.make(...answers)
    const list = Effect.ignore(Assemblies.list({ fromDate }))
    yield* Effect.all([list, list, list]).pipe(provide(service))
    const [first = 0, ...later] = expiries(service)
    const found = later.map((expiry) => (expiry - first) / 60_000)
    assert.deepStrictEqual(found.slice(0, minutes.length), minutes)
  })

  it.effect.each([
    ["Fri, 31 Dec 9999 23:59:59 GMT", undefined, 1],
    ["Thu, 01 Jan 2026 01:00:01 GMT", undefined, 1],
    ["Wed, 31 Dec 2025 22:59:59 GMT", undefined, 1],
    ["Thu, 01 Jan 2026 01:00:01 GMT", "2 hours", 2],
    ["Thu, 01 Jan 2026 00:10:00 GMT", "5 minutes", 1],
    ["Thu, 01 Jan 2026 01:00:00 GMT", undefined, 2]
  ] as const)("AUTH_EXPIRED fails: Date %s, maxClockSkew %s, %s requests", function* ([date, maxClockSkew, requests]) {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const service = Service.make(expired(date))
    const client = Service.client(service, { maxClockSkew }).pipe(Layer.provide(RetryPolicy.layerNone))
    const error = yield* Assemblies.list({ fromDate }).pipe(Effect.provide(client), Effect.flip)
    assert.deepInclude(error, {
      _tag: "AuthenticationFailed",
      code: "AUTH_EXPIRED",
      clockSkew: Date.parse(date) - Date.UTC(2026, 0, 1)
    })
    assert.strictEqual(service.requests.length, requests)
  })

  it.effect("signs a retry after a 503 with the corrected clock", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const service = Service.make(expired(ahead), Service.text(503, "busy"), Service.json(200, []))
    yield* Assemblies.list({ fromDate }).pipe(RetryPolicy.withPolicy(Schedule.recurs(1)), provide(service))
    const [first = 0, second = 0, third = 0] = expiries(service)
    assert.deepStrictEqual([second - first, third - first], [3_600_000, 3_600_000])
  })

  it.effect("a request signed again with the corrected clock is counted in the span of its operation", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const { spans, tracer } = Spans.make()
    yield* Assemblies.list({ fromDate }).pipe(
      provide(Service.make(expired(ahead), listed())),
      Effect.withTracer(tracer)
    )
    assert.strictEqual(spans[0]?.attributes.get("http.request.resend_count"), 1)
  })

  it.effect("fails with AuthenticationFailed after one request if AUTH_EXPIRED has no Date", function* () {
    const service = Service.make(Service.json(400, { error: "AUTH_EXPIRED" }))
    const error = yield* Assemblies.list({ fromDate }).pipe(provide(service), Effect.flip)
    assert.strictEqual(error._tag, "AuthenticationFailed")
    assert.strictEqual(service.requests.length, 1)
  })
})

describe("connections", () => {
  /** A server that knows which of its connections are open. */
  const counting = Effect.gen(function* () {
    const server = yield* Server.make
    const sockets = new Set<Socket>()
    const answer =
      (next: Server.Answer): Server.Answer =>
      (request, response) => {
        if (response.socket !== null) sockets.add(response.socket)
        next(request, response)
      }
    return { server, sockets, answer }
  })

  it.live("20 error responses in a row use at most 4 connections", function* () {
    const { answer, server, sockets } = yield* counting
    yield* Effect.gen(function* () {
      const failures = [Server.json(400, { error: "X" }), Server.text(502, "<html>"), Server.text(200, "{")]
      for (let index = 0; index < 20; index++) {
        server.script(answer(failures[index % 3] ?? Server.silence))
        yield* Effect.flip(Assemblies.get(assemblyId))
      }
    }).pipe(Effect.provide(layerFor(server.baseUrl, Undici.layerUndici)))
    assert.isAtMost(sockets.size, 4)
  })

  for (const [name, http] of Object.entries({ fetch: FetchHttpClient.layer, undici: Undici.layerUndici })) {
    it.live(`interruption closes the socket before a response and in the middle of one (${name})`, function* () {
      const { server } = yield* counting
      for (const answer of [Server.silence, Server.stall(200)]) {
        const arrived = Promise.withResolvers<void>()
        const closed = Promise.withResolvers<void>()
        server.script((request, response) => {
          response.on("close", () => closed.resolve())
          answer(request, response)
          arrived.resolve()
        })
        const fiber = yield* Effect.forkChild(
          Effect.provide(Assemblies.get(assemblyId), layerFor(server.baseUrl, http))
        )
        yield* Effect.promise(() => arrived.promise)
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => closed.promise)
      }
    })
  }
})

describe("what can be observed", () => {
  it.effect("each operation has one span with HTTP attributes and without capabilities", function* () {
    const { spans, tracer } = Spans.make()
    for (const operation of cases) {
      const service = Service.make(Service.json(200, operation.success))
      yield* operation.run.pipe(provide(service), Effect.withTracer(tracer))
    }
    const failing = Service.make(Service.json(503, { error: "SERVER_503" }))
    yield* Assemblies.get(assemblyId).pipe(provide(failing), Effect.withTracer(tracer), Effect.flip)
    const seen = spans.map(({ name }) => name)
    assert.deepStrictEqual(seen, [...cases.map(({ name }) => name), "Assemblies.get"])
    assert.deepInclude(Object.fromEntries(spans[0]?.attributes ?? []), {
      "http.request.method": "GET",
      "url.template": "/assembly_stats",
      "server.address": "api2.example.com",
      "server.port": 443
    })
    assert.deepInclude(Object.fromEntries(spans.at(-1)?.attributes ?? []), {
      "error.type": "ServiceFailure",
      "assembly.error_code": "SERVER_503",
      "http.response.status_code": 503
    })
    const shown = JSON.stringify(spans.map(({ attributes, links }) => [Array.from(attributes), links]))
    assert.notMatch(shown, /sha384|test-key|signature|0123456789abcdef/)
  })
})
