import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Spans from "@assembly-effect/testkit/observed/Spans"
import { Authenticator } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Clock, DateTime, Effect, Exit, Fiber, Layer, Metric, Option, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Service from "./utils/FakeService.ts"
import { assemblyId } from "./utils/operations.ts"

const query = { fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }
const list = Assemblies.list(query)
const page = Service.json(200, { items: [], count: 0 })
const busy = Service.json(503, { error: "BUSY" })

/** Runs an effect and returns its result, the number of requests and the duration in seconds. */
const outcome = Effect.fnUntraced(function* <A, E>(
  effect: Effect.Effect<A, E, AssemblyClient.AssemblyClient>,
  lines: ReadonlyArray<Service.Line>,
  options?: Omit<AssemblyClient.Options, "baseUrl">
) {
  const service = Service.make(...lines)
  const running = yield* Effect.forkChild(
    Effect.flatMap(Effect.exit(effect), (exit) =>
      Effect.map(Clock.currentTimeMillis, (now) => ({ exit, seconds: now / 1000 }))
    ).pipe(Effect.provide(Service.client(service, options)))
  )
  yield* TestClock.adjust("1 hour")
  return { ...(yield* Fiber.join(running)), requests: service.requests.length }
})

const tagOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): string =>
  Option.match(Exit.findErrorOption(exit), { onNone: () => "success", onSome: ({ _tag }) => _tag })

const authenticatedBy = (authenticate: () => Effect.Effect<never>) =>
  list.pipe(
    Effect.provide(AssemblyClient.layer({ baseUrl: "https://api2.example.com" })),
    Effect.provideService(Authenticator.Authenticator, { authenticate, refused: () => Effect.succeed("final") }),
    Effect.provide(Service.make(page).layer)
  )

const ownMetrics = Layer.sync(Metric.MetricRegistry, () => new Map())

describe("one call", () => {
  const all = Stream.runDrain(Assemblies.listAll(query).pipe(AssemblyClient.withTimeout("5 seconds"), RetryPolicy.none))
  const eachMinute = RetryPolicy.withPolicy(Schedule.spaced("1 minute").pipe(Schedule.upTo({ times: 60 })))
  const brief = list.pipe(AssemblyClient.withTimeout("5 seconds"))
  const waiting = authenticatedBy(() => Effect.never).pipe(AssemblyClient.withDeadline("5 seconds"))
  const nonsense: RetryPolicy.Policy = "nonsense" as never
  it.effect.each([
    ["withTimeout and RetryPolicy.none", RetryPolicy.none(brief), "TimedOut", 1, 5],
    ["no withTimeout", list.pipe(RetryPolicy.none), "TimedOut", 1, 50],
    ["withDeadline", list.pipe(AssemblyClient.withDeadline("90 seconds")), "TimedOut", undefined, 90],
    ["withDeadline while it waits for a token", waiting, "TimedOut", 0, 5],
    ["withTimeout and RetryPolicy.none for a Stream", all, "TimedOut", 1, 5],
    ["a policy that is no Schedule", list.pipe(RetryPolicy.withPolicy(nonsense)), "InvalidRequest", 0, 0]
  ] as const)("a call without a response and %s fails", function* ([, effect, tag, sent, after]) {
    const { exit, requests, seconds } = yield* outcome(effect, [Service.silence], { requestTimeout: "50 seconds" })
    assert.deepStrictEqual([tagOf(exit), sent === undefined ? undefined : requests, seconds], [tag, sent, after])
    if (tag === "InvalidRequest") assert.match(String(exit), /Assemblies\.list: withPolicy: Expected a Schedule/)
  })

  it.effect("a policy of one attempt a minute for an hour makes 60 retries, past the default deadline", function* () {
    const { exit, requests, seconds } = yield* outcome(eachMinute(list), [busy])
    assert.deepStrictEqual([tagOf(exit), requests, seconds], ["ServiceFailure", 61, 3600])
  })

  it.effect("a call with its own policy ends at an explicit deadline of the call or of the client", function* () {
    const call = list.pipe(RetryPolicy.withPolicy(Schedule.spaced("1 minute")))
    const ofCall = yield* outcome(call.pipe(AssemblyClient.withDeadline("150 seconds")), [busy])
    const ofClient = yield* outcome(call, [busy], { deadline: "150 seconds" })
    assert.deepStrictEqual([ofCall.requests, ofClient.requests], [3, 3])
  })

  it.effect("withDeadline ends all operations of an Effect or a Stream, also in a longer one", function* () {
    const slow = list.pipe(Effect.andThen(Effect.sleep("20 seconds")))
    const many = slow.pipe(Effect.forever, AssemblyClient.withDeadline("50 seconds"))
    const ofEffect = yield* outcome(many, [page])
    assert.deepStrictEqual([tagOf(ofEffect.exit), ofEffect.requests], ["TimedOut", 3])
    const stream = Stream.fromEffectRepeat(slow).pipe(AssemblyClient.withDeadline("50 seconds"), Stream.runDrain)
    const ofStream = yield* outcome(stream, [page])
    assert.deepStrictEqual([tagOf(ofStream.exit), ofStream.requests], ["TimedOut", 3])
    const nested = list.pipe(AssemblyClient.withDeadline("10 minutes"), AssemblyClient.withDeadline("50 seconds"))
    const begin = (yield* Clock.currentTimeMillis) / 1000
    assert.strictEqual((yield* outcome(nested, [Service.silence])).seconds - begin, 50)
  })

  it.effect.each([0, -1, Number.NaN, Infinity])(
    "withTimeout(%s) fails with InvalidRequest, sends nothing",
    function* (time) {
      const call = list.pipe(AssemblyClient.withTimeout(time))
      const { exit, requests } = yield* outcome(call, [page])
      assert.deepStrictEqual([tagOf(exit), requests], ["InvalidRequest", 0])
      assert.match(String(exit), /Assemblies\.list: withTimeout: Expected a finite duration above zero/)
    }
  )

  it.effect("a call pauses by its Schedule, and at least as long as retryIn", function* () {
    const scheduled = list.pipe(RetryPolicy.withPolicy(Schedule.spaced("7 seconds").pipe(Schedule.upTo({ times: 2 }))))
    const refused = yield* outcome(scheduled, [busy])
    assert.deepStrictEqual([tagOf(refused.exit), refused.requests, refused.seconds], ["ServiceFailure", 3, 14])
    // Another run starts counting from zero.
    const [first, second] = [yield* outcome(scheduled, [busy, busy, page]), yield* outcome(scheduled, [busy, page])]
    assert.deepStrictEqual([first.requests, second.requests], [3, 2])
    const limited = Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 30 } })
    const begin = (yield* Clock.currentTimeMillis) / 1000
    const waited = yield* outcome(scheduled, [limited, page])
    assert.deepStrictEqual([tagOf(waited.exit), waited.seconds - begin], ["success", 30])
  })

  it.effect("a Schedule retries neither create nor a request whose retryIn is longer than maxWait", function* () {
    const retrying = RetryPolicy.withPolicy(Schedule.recurs(5))
    const create = Assemblies.create({ assemblyId }).pipe(retrying)
    assert.strictEqual((yield* outcome(create, [busy, Service.json(404, { error: "NONE" })])).requests, 2)
    const limited = Service.json(429, { error: "RATE_LIMIT_REACHED", info: { retryIn: 61 } })
    assert.strictEqual((yield* outcome(list.pipe(retrying), [limited])).requests, 1)
  })

  it.effect("withAttributes adds attributes to the span of the operation, and replaces none", function* () {
    const { spans, tracer } = Spans.make()
    const call = list.pipe(
      AssemblyClient.withTimeout("5 seconds"),
      AssemblyClient.withAttributes({ "app.tenant": "a", "url.template": "mine" }),
      AssemblyClient.withDeadline("5 seconds"),
      Effect.withTracer(tracer)
    )
    yield* outcome(call, [page])
    const span = spans.find(({ name }) => name === "Assemblies.list")
    assert.strictEqual(span?.attributes.get("app.tenant"), "a")
    assert.strictEqual(span?.attributes.get("url.template"), "/assemblies")
  })
})

describe("an operation without a success or an error", () => {
  it.effect.each([
    ["interrupted", outcome(list, [Service.silence])],
    ["defect", authenticatedBy(() => assert.fail("no secret"))]
  ] as const)("an operation is counted in both metrics as `%s`", ownMetrics, function* ([expected, effect]) {
    const running = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* Effect.yieldNow
    yield* Fiber.interrupt(running)
    const found = (yield* Metric.snapshot).filter(({ attributes }) => attributes?.["outcome"] === expected)
    const seen = found.map(({ id }) => id)
    assert.sameMembers(seen, ["assembly_operations", "assembly_operation_duration"])
    for (const { state } of found) assert.strictEqual("count" in state && Number(state.count), 1)
  })
})

describe("the duration of an operation", () => {
  it.effect("a duration is counted by operation and outcome, with its retries", ownMetrics, function* () {
    const scheduled = list.pipe(RetryPolicy.withPolicy(Schedule.spaced("2 seconds")))
    yield* outcome(scheduled, [busy, page])
    const all = yield* Metric.snapshot
    const retries = all.flatMap(({ attributes, id }) => (id === "assembly_retries" ? [attributes] : []))
    assert.deepStrictEqual(retries, [{ operation: "Assemblies.list", error: "ServiceFailure" }])
    const found = all.find(
      ({ attributes, id }) =>
        id === "assembly_operation_duration" &&
        attributes?.["operation"] === "Assemblies.list" &&
        attributes?.["outcome"] === "success"
    )
    assert(found?.type === "Histogram")
    assert.strictEqual(found.state.count, 1)
    assert.strictEqual(found.state.max, 2000)
  })
})
