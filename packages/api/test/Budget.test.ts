/** The budget of an account, on the TestClock: what waits, for how long, and what a wait costs. */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Budget from "@assembly-effect/api/Budget"
import { Tokens } from "@assembly-effect/auth"
import * as Low from "@assembly-effect/auth/unstable/Budget"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import * as Spans from "@assembly-effect/testkit/observed/Spans"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Clock, DateTime, Duration, Effect, Fiber, Layer, Metric, Result, Schedule, Schema } from "effect"
import { RateLimiter } from "effect/persistence"
import * as Service from "./utils/FakeService.ts"
import { assemblyId } from "./utils/operations.ts"

const publicService = "https://api2.transloadit.com"

/** What the emulator and the service answer to a request for the Assembly in its path. */
const ok: Service.Line = (request, url) =>
  Service.json(200, { ok: "ASSEMBLY_COMPLETED", assembly_id: url.pathname.split("/")[2] })(request, url)

const limited = (code: number, retryIn: number, headers = {}) =>
  Service.json(code, { error: "RATE_LIMIT_REACHED", info: { retryIn } }, headers)

/** A scripted service, the second of each request, and a client of it. */
const account = (lines: ReadonlyArray<Service.Line>, options: Partial<AssemblyClient.Options> = {}) => {
  const service = Service.make(...lines)
  const client = AssemblyClient.layer({ baseUrl: publicService, ...options }).pipe(
    Layer.provide([Service.authenticated, service.layer]),
    Layer.orDie
  )
  return { times: service.times, service, client }
}

/** Runs an effect to its end on the TestClock, with this client and a budget of its own. */
const run = <A, E>(
  { client }: ReturnType<typeof account>,
  options: Budget.Options,
  effect: Effect.Effect<A, E, AssemblyClient.AssemblyClient>
) =>
  Effect.provide(effect, client.pipe(Layer.provideMerge(Budget.layer(options)))).pipe(
    Effect.orDie,
    Idle.passTime,
    Effect.map(({ value }) => value)
  )

const get = Assemblies.get(assemblyId)
const create = Assemblies.create({ steps: {} })
const atOnce = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect, { concurrency: "unbounded" })

/** The stores that several budgets share. */
const stores = Layer.mergeAll(Budget.layerStoreMemory, Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory))

/** The most of these times, in milliseconds, that any minute has. */
const inOneMinute = (times: ReadonlyArray<number>) =>
  Math.max(0, ...times.map((begin) => times.filter((time) => time >= begin && time < begin + 60_000).length))

describe("Assemblies created in a minute", () => {
  const Arrival = Schema.Struct({
    after: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60_000 })),
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
    // Those that are interrupted after this time give their turn to the next.
    patience: Schema.Literals([100, 5000, 1e9])
  })

  it.effect.prop(
    "no minute has more than `created`, whenever they arrive and whoever is interrupted",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 })), Schema.Array(Arrival)],
    ([created, arrivals]) =>
      Effect.gen(function* () {
        const times: Array<number> = []
        const enter = (patience: number) =>
          Effect.gen(function* () {
            const budget = yield* Low.Budget
            yield* budget!.enter({ url: "https://api.example.com", need: "creation", until: Infinity })
            times.push(yield* Clock.currentTimeMillis)
          }).pipe(Effect.timeoutOption(patience))
        const all = Effect.forEach(arrivals, ({ after, count, patience }) =>
          Effect.andThen(Effect.sleep(after), Effect.forkChild(atOnce(count, enter(patience))))
        ).pipe(Effect.flatMap(Fiber.joinAll))
        yield* Idle.passTime(Effect.provide(all, Budget.layer({ created })), "10 minutes")
        assert.isAtMost(inOneMinute(times), created)
      })
  )

  it.effect("1,000 at once: any minute has at most 250, and at least 95 % of them", function* () {
    const { times, ...rest } = account([ok])
    yield* run({ times, ...rest }, {}, atOnce(1000, create))
    const millis = times.map((time) => time * 1000)
    assert.strictEqual(inOneMinute(millis), 246)
    assert.isAtLeast(1000 / ((millis.at(-1) ?? 0) / 60_000), 0.95 * 250)
  })

  it.effect.each([
    ["another service than the public one", "https://api.example.com", {}],
    ["the public service with `created: false`", publicService, { created: false }]
  ] as const)("has no limit for %s", function* ([, baseUrl, options]) {
    const service = account([ok], { baseUrl })
    yield* run(service, options, atOnce(300, create))
    assert.deepStrictEqual(new Set(service.times), new Set([0]))
  })

  it.effect("two clients with one budget share it, and two budgets do not", function* () {
    const [one, other, third] = [account([ok]), account([ok]), account([ok])]
    const shared = Effect.all([Effect.provide(create, one.client), Effect.provide(create, other.client)])
    const own = Effect.provide(create, Layer.provideMerge(third.client, Budget.layer({ created: 1 })))
    yield* Effect.all([shared, own]).pipe(Effect.provide(Budget.layer({ created: 1 })), Idle.passTime)
    assert.deepStrictEqual([one.times, other.times, third.times], [[0], [61], [61]])
  })
})

describe("requests in ten seconds", () => {
  it.effect("200 requests at one in ten seconds succeed, because the wait is part of no time limit", function* () {
    const service = account([ok])
    const tags = Effect.map(Effect.result(get), (result) => (Result.isFailure(result) ? result.failure._tag : "read"))
    const seen = yield* run(service, { requests: 1 }, atOnce(200, tags))
    assert.deepStrictEqual(new Set(seen), new Set(["read"]))
    assert.isAtLeast(service.times[199] ?? 0, 199 * 10)
  })

  it.effect("a wait longer than the deadline, then 503, then 200: succeeds", function* () {
    const service = account([Service.json(503, {}), ok], { deadline: "20 seconds" })
    const paused = Effect.flatMap(Low.Budget, (budget) => budget!.pause("request", Duration.seconds(30)))
    yield* run(service, {}, Effect.andThen(paused, get))
    assert.lengthOf(service.times, 2)
    assert.isAtLeast(service.times[0] ?? 0, 30)
  })

  it.effect("a request is signed after its wait", function* () {
    const service = account([Service.json(200, [])])
    const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
    yield* run(service, { requests: 1 }, Effect.all([list, list]))
    const [first = 0, second = 0] = service.service.requests.map((url) =>
      Date.parse(JSON.parse(url.searchParams.get("params") ?? "").auth.expires)
    )
    assert.strictEqual(second - first, (service.times[1] ?? 0) * 1000)
  })

  it.effect("an explicit deadline ends the wait at once with RateLimited, and takes no permit", function* () {
    const service = account([ok])
    const program = Effect.gen(function* () {
      yield* get
      const waiting = yield* Effect.forkChild(get)
      yield* Effect.sleep("1 second")
      const error = yield* get.pipe(AssemblyClient.withDeadline("15 seconds"), Effect.flip)
      const now = yield* Clock.currentTimeMillis
      yield* Fiber.interrupt(waiting)
      yield* get.pipe(AssemblyClient.withDeadline("15 seconds"))
      return { error, now }
    })
    const { error, now } = yield* run(service, { requests: 1 }, program)
    assert(error._tag === "RateLimited")
    assert.strictEqual(now, 1000)
    assert.isUndefined(error.status)
    assert.isAbove(Duration.toSeconds(error.retryAfter), 15)
    assert.match(error.message, /^Assemblies.get: the budget of the account has no permit for [\d.]+ s; no request/)
    assert.lengthOf(service.times, 2)
  })

  it.effect("a creation that is interrupted while it waits for its turn gives its request back", function* () {
    const service = account([ok])
    const program = Effect.gen(function* () {
      yield* create
      // Its request has a token after 10.2 seconds, and the next token would come after 20.4.
      yield* Effect.timeoutOption(create, "15 seconds")
      yield* get
    })
    yield* run(service, { created: 1, requests: 1 }, program)
    assert.deepStrictEqual(service.times, [0, 15])
  })
})

describe("a pause that the service requests", () => {
  it.effect.each([
    ["Retry-After", 7, Service.json(429, { error: "RATE_LIMIT_REACHED" }, { "retry-after": "7" })],
    ["retryIn", 6.5, limited(429, 6.5)],
    ["the longer of both", 7, limited(429, 7, { "retry-after": "2" })]
  ] as const)("by %s is kept by the next request, if nothing is retried", function* ([, wait, answer]) {
    const service = account([answer, ok])
    const error = yield* run(service, {}, Effect.tap(RetryPolicy.none(Effect.flip(get)), get))
    assert.deepInclude(error, { _tag: "RateLimited", code: "RATE_LIMIT_REACHED", status: 429 })
    assert.isAtLeast(service.times[1] ?? 0, wait)
    assert.isBelow(service.times[1] ?? 0, wait + 1)
  })

  it.effect("of an hour uses up neither attempts nor the default deadline of any request", function* () {
    const refusal = limited(429, 3600)
    const service = account([refusal, refusal, refusal, ok])
    const policy = RetryPolicy.withPolicy(Schedule.recurs(1))
    yield* run(service, {}, Effect.all([policy(get), create], { concurrency: 2 }))
    for (const [index, time] of service.times.entries()) {
      const before = service.times[index - 1]
      if (before !== undefined && index <= 3 && before !== time) assert.isAtLeast(time - before, 3600)
    }
    assert.lengthOf(service.times, 5)
  })

  it.effect(
    "a request that is sent again after a 429 is counted in the span, although it uses up no attempt",
    function* () {
      const { spans, tracer } = Spans.make()
      yield* run(account([limited(429, 1), limited(429, 1), ok]), {}, Effect.withTracer(get, tracer))
      assert.deepStrictEqual(
        spans.map(({ attributes }) => attributes.get("http.request.resend_count")),
        [2]
      )
    }
  )

  it.effect("by a 413 holds the creations, and no other request", function* () {
    const service = account([limited(413, 100), ok])
    const reading = Effect.delay(get, "1 second")
    yield* run(service, {}, Effect.all([create, reading], { concurrency: 2 }))
    assert.deepStrictEqual(service.times.slice(0, 2), [0, 1])
    assert.isAtLeast(service.times[2] ?? 0, 100)
    assert.deepStrictEqual(service.service.methods, ["POST", "GET", "POST"])
  })

  it.effect("by a 429 for a creation holds the other requests too", function* () {
    const service = account([limited(429, 100), ok])
    const reading = Effect.delay(get, "1 second")
    yield* run(service, {}, Effect.all([create, reading], { concurrency: 2 }))
    assert.lengthOf(service.times, 3)
    for (const time of service.times.slice(1)) assert.isAtLeast(time, 100)
  })

  it.effect("by a 429 for a token holds the requests", function* () {
    const service = Service.make(Service.text(429, "", { "retry-after": "30" }))
    const tokens = Tokens.layer().pipe(Layer.provide([Service.credentials, service.layer]))
    const entered = Effect.gen(function* () {
      const { get: getToken } = yield* Tokens.Tokens
      yield* Effect.flip(getToken({ baseUrl: SecureUrl.make(publicService) }))
      yield* (yield* Low.Budget)!.enter({ url: publicService, need: "request", until: Infinity })
      return yield* Clock.currentTimeMillis
    })
    const { value } = yield* Idle.passTime(Effect.provide(entered, Layer.provideMerge(tokens, Budget.layer())))
    assert.isAtLeast(value, 30_000)
  })

  it.effect("by a 413 is followed by one creation in each interval, and by no burst", function* () {
    const service = account([limited(413, 100), ok])
    yield* run(service, {}, atOnce(20, create))
    const after = service.times.map((time) => Math.round(time * 1000)).filter((time) => time >= 100_000)
    assert.lengthOf(after, 21 - 5)
    for (const [index, time] of after.entries()) assert.isAtLeast(time - (after[index - 1] ?? 0), 248)
  })

  it.effect("by a 413 of another process is followed by one creation in each interval, and by no burst", function* () {
    const entered = Effect.gen(function* () {
      const [told, other] = yield* Effect.forEach(Array(2), () => Effect.provide(Low.Budget, Budget.layerNoDeps()))
      yield* told!.pause("creation", Duration.seconds(100))
      const enter = other!.enter({ url: publicService, need: "creation", until: Infinity })
      return yield* atOnce(20, Effect.andThen(enter, Clock.currentTimeMillis))
    })
    const { value } = yield* Idle.passTime(Effect.provide(entered, stores))
    assert.isAtLeast(value[0] ?? 0, 100_000)
    for (const [index, time] of value.entries()) assert.isAtLeast(time - (value[index - 1] ?? 0), 240)
  })

  it.effect("of 100 seconds ends at a different time for each of 20 budgets, within a second", function* () {
    const entered = Effect.gen(function* () {
      const budgets = yield* Effect.forEach(Array(20), () => Effect.provide(Low.Budget, Budget.layerNoDeps()))
      yield* budgets[0]!.pause("request", Duration.seconds(100))
      const enter = (budget: Low.Budget | undefined) =>
        Effect.andThen(budget!.enter({ url: publicService, need: "request", until: Infinity }), Clock.currentTimeMillis)
      return yield* Effect.forEach(budgets, enter, { concurrency: "unbounded" })
    })
    const { value } = yield* Idle.passTime(Effect.provide(entered, stores))
    assert.isAtLeast(new Set(value).size, 15)
    assert.isAtLeast(Math.min(...value), 100_000)
    assert.isAtMost(Math.max(...value), 101_000)
  })

  it.effect("of a second does not shorten a known pause of 60 s", Budget.layerStoreMemory, function* () {
    const store = yield* Budget.BudgetStore
    yield* store.pause("a", 60_000)
    yield* store.pause("a", 1000)
    assert.strictEqual(yield* store.pauseLeft("a"), 60_000)
  })

  it.effect("of 300 days is kept for a day, and one of another process is seen within half a second", function* () {
    const service = account([limited(429, 300 * 86_400), ok])
    const other = account([ok])
    const program = Effect.gen(function* () {
      yield* Effect.provide(get, Layer.provideMerge(other.client, Budget.layerNoDeps()))
      const [first, second] = [Budget.layerNoDeps(), Budget.layerNoDeps()]
      yield* Effect.provide(Effect.flip(RetryPolicy.none(get)), Layer.provideMerge(service.client, first))
      yield* Effect.provide(get, Layer.provideMerge(other.client, second))
    }).pipe(Effect.provide(stores))
    yield* Idle.passTime(Effect.orDie(program), "1 hour")
    assert.lengthOf(other.times, 2)
    assert.approximately(other.times[1] ?? 0, 86_400, 2)
  })
})

describe("Assemblies running at once", () => {
  const enter = (assembly: string, running: ReadonlySet<string> = new Set(), asked: Array<string> = []) =>
    Effect.gen(function* () {
      const budget = yield* Low.Budget
      yield* budget!.enter({ url: publicService, need: "creation", until: Infinity, assemblyId: assembly })
      return yield* Clock.currentTimeMillis
    }).pipe(
      Effect.provideService(Low.Watcher, {
        isRunning: (id) =>
          Effect.sync(() => {
            asked.push(id)
            return running.has(id)
          })
      })
    )
  const names = Array.from({ length: 250 }, (_, index) => `assembly ${index}`)
  const limits = { created: false, running: 250 } as const

  it.effect("the 251st waits until one has ended, and whoever does not watch takes no place", function* () {
    const program = Effect.gen(function* () {
      const budget = (yield* Low.Budget)!
      yield* atOnce(300, budget.enter({ url: publicService, need: "creation", until: Infinity, assemblyId: "other" }))
      yield* Effect.forEach(names, (name) => enter(name), { concurrency: "unbounded" })
      const last = yield* Effect.forkChild(enter("last"))
      // Who gives up leaves no place taken.
      yield* Effect.timeoutOption(enter("impatient"), "5 seconds")
      yield* Effect.sleep("10 seconds")
      yield* budget.release(publicService, "assembly 7")
      return yield* Fiber.join(last)
    })
    const { value } = yield* Idle.passTime(Effect.provide(program, Budget.layer(limits)))
    assert.strictEqual(value, 15_000)
  })

  it.effect("a creation that is interrupted during a pause gives its place to the next", () =>
    Effect.gen(function* () {
      const program = Effect.gen(function* () {
        yield* (yield* Low.Budget)!.pause("creation", Duration.seconds(10))
        yield* Effect.timeoutOption(enter("impatient"), "5 seconds")
        return yield* enter("next", new Set(["impatient"]))
      })
      const { value } = yield* Idle.passTime(Effect.provide(program, Budget.layer({ created: false, running: 1 })))
      assert.isBelow(value, 12_000)
    }).pipe(Effect.timeout("10 minutes"))
  )

  it.effect("250 of a program that died are asked for once, and are free in two minutes", function* () {
    const asked: Array<string> = []
    const running = new Set(names.slice(0, 10))
    const program = Effect.gen(function* () {
      const budget = (yield* Low.Budget)!
      yield* Effect.forEach(names, (name) => enter(name), { concurrency: "unbounded" })
      // Somebody still watches the last one.
      yield* Effect.forkChild(Effect.repeat(budget.keep(publicService, "assembly 249"), Schedule.spaced(Low.renewal)))
      const next = Array.from({ length: 239 }, (_, index) => `next ${index}`)
      return yield* Effect.forEach(next, (name) => enter(name, running, asked), { concurrency: "unbounded" })
    })
    const { value } = yield* Idle.passTime(Effect.scoped(Effect.provide(program, Budget.layer(limits))))
    assert.isAtMost(Math.max(...value), 120_000)
    assert.deepStrictEqual(asked.toSorted(), names.slice(0, 249).toSorted())
  })
})

describe("a wait", () => {
  it.effect("is told to the listeners, its span and a metric", function* () {
    const told: Array<string> = []
    let waited = 0
    const telling = Low.telling(Effect.all([create, create, create]), {
      waits: ({ reason, until }) => Effect.sync(() => told.push(`${reason}, ${until}`)),
      waited: (millis) => {
        waited += millis
      }
    })
    const spanned = Effect.andThen(telling, Effect.currentSpan).pipe(Effect.orDie, Effect.withSpan("three creations"))
    const span = yield* run(account([ok]), { created: 1 }, spanned)
    const why = "the account may create no more Assemblies now"
    assert.deepStrictEqual(told, [`${why}, 61000`, `${why}, 122000`])
    assert.strictEqual(waited, 122_000)
    assert.strictEqual(span.attributes.get("assembly.budget.creations.wait_ms"), 122_000)
    const waits = (yield* Metric.snapshot).filter(({ id }) => id === "assembly_budget_wait")
    assert.isTrue(waits.some(({ attributes }) => attributes?.["kind"] === "creations"))
  })

  it.effect("ends with TransportFailure, and nothing is sent, if the store fails", function* () {
    const service = account([ok])
    const store = Layer.effect(
      Budget.BudgetStore,
      Effect.map(Budget.BudgetStore, (memory) => ({
        ...memory,
        pauseLeft: () => Effect.fail(new Budget.BudgetStoreFailed({ cause: "no connection" }))
      }))
    ).pipe(Layer.provide(Budget.layerStoreMemory))
    const limiter = Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)
    const budget = Layer.provide(Budget.layerNoDeps(), [store, limiter])
    const error = yield* RetryPolicy.none(Effect.flip(get)).pipe(
      Effect.provide(Layer.provideMerge(service.client, budget))
    )
    assert.deepInclude(error, { _tag: "TransportFailure", sent: "no" })
    assert.include(error.message, "the store of the budget failed")
    assert.isEmpty(service.times)
  })
})
