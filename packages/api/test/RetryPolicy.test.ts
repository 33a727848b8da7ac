import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { DateTime, Duration, Effect, Layer, Option, Random, Schedule, Schema } from "effect"
import { type AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Service from "./utils/FakeService.ts"
import type { Case } from "./utils/operations.ts"
import { cases, examples } from "./utils/operations.ts"

type Options = Omit<AssemblyClient.Options, "baseUrl">

const policy = RetryPolicy.layer({ retries: 3 })

/** Runs an operation to its end, however long this takes on the TestClock. */
const outcome = (
  operation: Case,
  lines: ReadonlyArray<Service.Line>,
  options?: Options & { readonly policy?: typeof policy }
) =>
  Effect.gen(function* () {
    const service = Service.make(...lines)
    const layer = Service.client(service, options).pipe(Layer.provide(options?.policy ?? policy), Layer.orDie)
    const { value: ended } = yield* Idle.passTime(Effect.result(Effect.provide(operation.run, layer)))
    const elapsed = yield* DateTime.now
    return {
      requests: service.requests,
      tag: ended._tag === "Failure" ? ended.failure._tag : "success",
      elapsed: elapsed.epochMilliseconds
    }
  })

const by = (name: string): Case => {
  const found = cases.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const html = "<html>gateway</html>"

/**
 * Each failure, and the number of requests of an operation that meets it every time: 4 means one request and three
 * retries.
 */
const rules: ReadonlyArray<
  readonly [failure: string, line: Service.Line, safe: number, change: number, asked: number]
> = [
  ["a lost connection", Service.lost, 4, 1, 1],
  ["429 with a code", Service.json(429, { error: "RATE_LIMIT_REACHED" }), 4, 4, 4],
  ["413 with the code of 429", Service.json(413, { error: "RATE_LIMIT_REACHED", info: { retryIn: 0 } }), 4, 4, 4],
  ["429 as HTML", Service.text(429, html), 4, 4, 4],
  ["502 as HTML", Service.text(502, html), 4, 1, 1],
  ["503 with a code", Service.json(503, { error: "SERVER_503" }), 4, 1, 1],
  ["504 without a body", Service.text(504, ""), 4, 1, 1],
  ["500 with a code", Service.json(500, { error: "SERVER_500" }), 1, 1, 1],
  ["500 as HTML", Service.text(500, html), 1, 1, 1],
  ["DAM_MUTATION_FAILED", Service.json(500, { error: "DAM_MUTATION_FAILED" }), 1, 4, 1],
  ["DAM_MUTATION_CONFLICT", Service.json(409, { error: "DAM_MUTATION_CONFLICT" }), 1, 1, 1],
  ["an unknown code", Service.json(400, { error: "X" }), 1, 1, 1],
  ["a refused signature", Service.json(400, { error: "INVALID_SIGNATURE" }), 1, 1, 1],
  ["a body that is not JSON", Service.text(200, "{"), 1, 1, 1],
  ["a redirect", Service.text(302, "", { location: "https://evil.example/" }), 1, 1, 1]
]

/** An operation that changes something is not repeated after its request may have been sent. */
const isChange = ({ method }: Case): boolean => method !== "GET"

describe("what is sent again", () => {
  test("isRetryable: a request that was not sent, unless retry is `never` or the failure permanent", () => {
    const unsent = { _tag: "TransportFailure", sent: "no" } as const
    for (const retry of ["safe", [], ["DAM_MUTATION_FAILED"]] as const) {
      assert.isTrue(RetryPolicy.isRetryable({ error: unsent, retry }))
      assert.isFalse(RetryPolicy.isRetryable({ error: { ...unsent, permanent: true }, retry }))
    }
    assert.isFalse(RetryPolicy.isRetryable({ error: unsent, retry: "never" }))
    assert.isFalse(RetryPolicy.isRetryable({ error: { _tag: "TransportFailure", sent: "maybe" }, retry: [] }))
  })

  test("isRetryable: any request with retry `resumes`, unless the failure is permanent", () => {
    for (const error of [{ _tag: "OffsetConflict" }, { _tag: "TransportFailure", sent: "maybe" }] as const) {
      assert.isTrue(RetryPolicy.isRetryable({ error, retry: "resumes" }))
      assert.isFalse(RetryPolicy.isRetryable({ error: { ...error, permanent: true }, retry: "resumes" }))
    }
  })

  /** These tell apart the kinds of operations, so every operation meets them. */
  const forAll = new Set(["503 with a code", "DAM_MUTATION_FAILED"])

  // The last one is a policy of the program that always retries.
  const stubborn = Layer.succeed(RetryPolicy.RetryPolicy, Schedule.recurs(3))
  for (const [failure, line, safe, change, asked] of rules) {
    it.effect(`${failure}: ${safe} requests of a GET, ${change} of Dam.move, ${asked} of another change`, function* () {
      for (const operation of forAll.has(failure) ? cases : examples) {
        const expected = operation.name === "Dam.move" ? change : isChange(operation) ? asked : safe
        for (const own of [policy, RetryPolicy.layerNone, stubborn]) {
          const { requests, tag } = yield* outcome(operation, [line], { policy: own })
          assert.strictEqual(requests.length, own === RetryPolicy.layerNone ? 1 : expected, operation.name)
          assert.notStrictEqual(tag, "success", operation.name)
        }
      }
    })
  }

  it.effect("a GET is sent again after TimedOut, a change is not", function* () {
    for (const operation of cases) {
      const { requests, tag } = yield* outcome(operation, [Service.silence], { requestTimeout: "5 seconds" })
      assert.strictEqual(requests.length, isChange(operation) ? 1 : 4, operation.name)
      assert.strictEqual(tag, "TimedOut")
    }
  })

  it.effect("each retry has another nonce and signature", function* () {
    const { requests } = yield* outcome(by("Assemblies.list"), [Service.lost])
    const proofs = requests.map((url) => url.searchParams)
    assert.strictEqual(new Set(proofs.map((proof) => proof.get("signature"))).size, 4)
    assert.strictEqual(new Set(proofs.map((proof) => JSON.parse(proof.get("params") ?? "").auth.nonce)).size, 4)
  })
})

describe("how long it waits", () => {
  it.effect("waits at least as long as retryIn or Retry-After", function* () {
    const error = { error: "RATE_LIMIT_REACHED" }
    const lines: ReadonlyArray<readonly [Service.Line, number]> = [
      [Service.json(429, { ...error, info: { retryIn: 30 } }), 30_000],
      [Service.json(429, error, { "retry-after": "45" }), 45_000],
      [Service.json(429, error, { "retry-after": "Thu, 01 Jan 1970 00:00:50 GMT" }), 50_000],
      [Service.text(503, html, { "retry-after": "20" }), 20_000]
    ]
    for (const [line, wait] of lines) {
      const operation = by("Assemblies.list")
      const before = yield* DateTime.now
      // A date is compared with the service's own time if the response contains it, so the order of these does not
      // matter.
      const dated: Service.Line = (request, url) =>
        Effect.map(line(request, url), (response) => {
          response.headers.set("date", "Thu, 01 Jan 1970 00:00:00 GMT")
          return response
        })
      const { elapsed, tag } = yield* outcome(operation, [dated, Service.json(200, operation.success)])
      assert.strictEqual(tag, "success")
      assert.isAtLeast(elapsed - before.epochMilliseconds, wait)
    }
  })

  it.effect("fails with RateLimited after one request if retryIn is longer than maxWait", function* () {
    const line = Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 61 } })
    const { elapsed, requests, tag } = yield* outcome(by("Assemblies.list"), [line])
    assert.deepStrictEqual([requests.length, tag], [1, "RateLimited"])
    assert.isBelow(elapsed, 10_000)
  })

  it.effect("fails with the last error if a pause would end at the deadline itself", function* () {
    const spaced = Layer.succeed(RetryPolicy.RetryPolicy, Schedule.spaced("30 seconds"))
    const line = Service.text(503, html)
    const exact = yield* outcome(by("Assemblies.list"), [line], { deadline: "30 seconds", policy: spaced })
    assert.deepStrictEqual([exact.requests.length, exact.tag, exact.elapsed], [1, "UnexpectedResponse", 0])
  })

  const failure = (failures: number, wait: Option.Option<Duration.Duration>): RetryPolicy.Failure => ({
    operation: "X",
    retry: "safe",
    failures,
    error: { _tag: "TransportFailure" },
    wait
  })

  it.effect.prop(
    "a pause doubles up to 10 seconds, with jitter down to half; a wait of the service is kept, with jitter added",
    {
      failures: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
      seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
      seed: Schema.Int
    },
    ({ failures, seconds, seed }) =>
      Effect.gen(function* () {
        const next = RetryPolicy.pauses(RetryPolicy.make({ retries: 40 }))
        const pause = Math.min(250 * 2 ** (failures - 1), 10_000)
        const own = Duration.toMillis(Option.getOrThrow(yield* next(failure(failures, Option.none()))))
        assert.isAtLeast(own, pause / 2 - 1)
        assert.isAtMost(own, pause)
        const named = yield* next(failure(failures, Option.some(Duration.seconds(seconds))))
        assert.isAbove(Duration.toMillis(Option.getOrThrow(named)), seconds * 1000)
        assert.isAtMost(Duration.toMillis(Option.getOrThrow(named)), seconds * 1000 + pause)
      }).pipe(Random.withSeed(seed))
  )
})
