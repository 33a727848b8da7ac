/**
 * Nothing is waited for without an end: neither an answer, nor what a server asks to wait for.
 */
import { Tus, UploadEvent, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Deferred, Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { assert, layerTest, Clients, type Fault, Idle, Loopback, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const bytes = Scene.content(600_000)
const { metadata } = Scene.options

const asking = (method: "POST" | "PATCH" | "OPTIONS", status: number, wait: string): Fault => ({
  _tag: "Status",
  method,
  status,
  headers: { "retry-after": wait }
})

/** What an upload fails with at once, in the time of the test, which stands still. */
const failure = (faults: ReadonlyArray<Fault>, options: Partial<Upload.Options> = {}) =>
  Effect.gen(function* () {
    const { target } = yield* Scene.make(faults)
    return yield* Effect.flip(Upload.run(target, UploadSource.fromBytes(bytes), { metadata, ...options }))
  })

const waits: Readonly<Record<string, string>> = {
  "31 years": "999999999",
  "more digits than a number has": "9".repeat(400),
  "a date in the year 9999": "Fri, 31 Dec 9999 23:59:59 GMT",
  "one second more than an hour": "3601"
}

layerTest(Clients.undici)("A wait that a server asks for", (it) => {
  it.effect.each(Object.entries(waits))("of %s is told instead of waited for", function* ([, wait]) {
    const whole = yield* failure([asking("PATCH", 503, wait)])
    assert.deepInclude(whole, { _tag: "ServerFailure", status: 503 })
    const error = yield* failure([asking("POST", 429, wait)])
    if (error._tag !== "RateLimited") return assert.fail(error._tag)
    assert.isAbove(Duration.toHours(error.retryAfter), 1)
    assert.isTrue(Number.isSafeInteger(Duration.toMillis(error.retryAfter)))
    const checked = yield* failure([asking("OPTIONS", 503, wait)], { checksum: "sha1" })
    assert.deepInclude(checked, { _tag: "ServerFailure", request: "discover" })
  })

  it.effect("in the body of the answer has the same limit", function* () {
    for (const retryIn of ["1e300", "3600.5", "1e999", "-1", "null"]) {
      const isWait = /^(1e300|3600.5)$/.test(retryIn)
      const body = `{"error":"RATE_LIMIT_REACHED","info":{"retryIn":${retryIn}}}`
      const limit: Fault = { _tag: "Status", method: "POST", status: 429, body }
      const error = yield* failure([limit], isWait ? {} : { maxRetries: 0 })
      if (error._tag !== "RateLimited") return assert.fail(error._tag)
      assert.strictEqual(Duration.toHours(error.retryAfter) > 1, isWait, retryIn)
      assert.isTrue(Number.isFinite(Duration.toMillis(error.retryAfter)))
    }
  })

  it.effect("is waited for up to maxWait", function* () {
    const faults = [asking("PATCH", 503, "3600")]
    const told = yield* failure(faults, { maxWait: "59 minutes" })
    assert.deepInclude(told, { _tag: "ServerFailure", retryAfter: Duration.seconds(3600) })

    const { target } = yield* Scene.make(faults)
    const delay = yield* Upload.events(target, UploadSource.fromBytes(bytes), { metadata, retryDelay: 0 }).pipe(
      Stream.filter(UploadEvent.$is("Retrying")),
      Stream.runHead,
      Effect.flatMap(Effect.fromOption)
    )
    assert.strictEqual(Duration.toMinutes(delay.delay), 60)
  })

  it.effect("that is no wait is taken for none", function* () {
    for (const wait of ["-5", "1e300", "NaN", "Infinity", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      const error = yield* failure([asking("POST", 429, wait)], { maxRetries: 0 })
      if (error._tag !== "RateLimited") return assert.fail(error._tag)
      assert.isTrue(Duration.isZero(error.retryAfter), wait)
    }
  })
})

/** Requests that hang, in the time of the test: they end after 30 seconds, and not one second before. */
const stalls = <A, E, R>(effect: Effect.Effect<A, E, R>, server: { readonly requests: ReadonlyArray<string> }) =>
  Effect.gen(function* () {
    const before = server.requests.length
    const idle = Idle.make()
    const fiber = yield* Effect.forkChild(idle.within(Effect.flip(effect)))
    while (server.requests.length === before) yield* idle.settled
    yield* TestClock.adjust("29 seconds")
    yield* idle.settled
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

/** A server whose downloads begin and never go on. */
const stuck = Loopback.serve((_, response) => response.write(Buffer.alloc(1000)))

/** The connection stays; a server that was never asked would close it after a while. Downloads must not reach this one. */
const hangs = (method: Fault["method"]): Fault =>
  method === "GET" ? { _tag: "NoAnswer", method } : { _tag: "SlowAnswer", method, millis: 3_600_000 }

layerTest(Clients.undici)("A request that is never answered", (it) => {
  it.effect("has a limit of time, whichever it is", function* () {
    const { server, target } = yield* Scene.make()
    const { url } = yield* Tus.create(target, { _tag: "Fixed", length: 3n, metadata })
    const requests = {
      create: ["POST", Tus.create(target, { _tag: "Fixed", length: 3n, metadata })],
      offset: ["HEAD", Tus.offset(url)],
      terminate: ["DELETE", Tus.terminate(url)],
      discover: ["OPTIONS", Tus.discover(target)],
      download: ["GET", Stream.runDrain(Tus.download(url))]
    } as const
    for (const [request, [method, effect]] of Object.entries(requests)) {
      server.faults.push(hangs(method))
      const error: unknown = yield* stalls<unknown, unknown, Effect.Services<typeof effect>>(effect, server)
      assert.deepInclude(error, { _tag: "Stalled", request, after: Duration.seconds(30) })
      const message = `Stalled: ${request} at ${new URL(server.tusUrl).host}: nothing was sent or received for 30s`
      assert.strictEqual(String(error), message)
    }
  })

  it.effect("has the limit that its caller sets", function* () {
    const { target } = yield* Scene.make([hangs("OPTIONS")])
    const error = yield* Tus.discover(target).pipe(
      Effect.provideService(Tus.RequestTimeout, Duration.millis(20)),
      Effect.flip,
      TestClock.withLive
    )
    assert.deepInclude(error, { _tag: "Stalled", after: Duration.millis(20) })
  })

  it.effect("or whose answer stands still, is left", function* () {
    const origin = yield* stuck
    const target = yield* UploadTarget.make({ tusUrl: origin, assemblySslUrl: origin })
    const url = yield* Effect.fromResult(UploadTarget.resolve(target, "/resumable/files/stuck"))
    const read = { size: 0 }
    const idle = Idle.make()
    const fiber = yield* Tus.download(url).pipe(
      Stream.runForEach((piece) => Effect.sync(() => (read.size += piece.length))),
      Effect.flip,
      idle.within,
      Effect.forkChild
    )
    while (read.size < 1000) yield* idle.settled
    const { value: error } = yield* Idle.passUntil(idle, fiber)
    assert.deepInclude(error, { _tag: "Stalled", request: "download" })
    assert.strictEqual(read.size, 1000)
  })
})

const limits = {
  metadata,
  retryDelay: "100 millis",
  stallTimeout: "1 second",
  finishTimeout: "60 seconds"
} as const

/** An upload whose events are seen as they come. */
const begin = Effect.fnUntraced(function* (
  server: ScriptedTus.ScriptedTus,
  size: number,
  more?: Partial<Upload.Options>
) {
  const events: Array<UploadEvent.UploadEvent> = []
  const source = UploadSource.fromBytes(Scene.content(size))
  const fiber = yield* Upload.events(server.target, source, { ...limits, ...more }).pipe(
    Stream.runForEach((event) => Effect.sync(() => events.push(event))),
    Effect.result,
    Effect.forkChild
  )
  return { events, fiber }
})

/** A server that holds the answers to requests of one kind back. */
const holding = Effect.fnUntraced(function* (method: ScriptedTus.Request["method"]) {
  const held = yield* Deferred.make<void>()
  const server = yield* ScriptedTus.changing(method, (go) => {
    const answer = go()
    return Effect.runPromise(Effect.as(Deferred.await(held), answer))
  })
  return { server, release: Deferred.succeed(held, undefined) }
})

/** The answer to a request that is held without an end. */
const never = new Promise<"cut">(() => undefined)

const delaysOf = (events: ReadonlyArray<UploadEvent.UploadEvent>) =>
  events.flatMap((event) => (event._tag === "Retrying" ? [Duration.toMillis(event.delay)] : []))

layerTest(Clients.undici)("An upload", (it) => {
  it.effect.each([
    ["a creation that is turned away", 10, ["POST"], 429],
    ["a question that is not answered", 300_000, ["PATCH", "HEAD"], 500]
  ] as const)(
    "doubles the pause after %s, up to 30 seconds, and takes half of it at least",
    function* ([, size, methods, status]) {
      const server = yield* ScriptedTus.make
      server.meet = ({ method }, go) => (methods.some((failing) => failing === method) ? { status } : go())
      const { events, fiber } = yield* begin(server, size, { maxRetries: 11 })
      for (let failures = 1; failures <= 11; failures++) {
        yield* Scene.soon(() => delaysOf(events).length === failures)
        const delay = delaysOf(events)[failures - 1] ?? 0
        const whole = Math.min(100 * 2 ** (failures - 1), 30_000)
        assert.isAtLeast(delay, whole / 2)
        assert.isAtMost(delay, whole)
        const before = server.requests.length
        yield* TestClock.adjust(delay - 1)
        assert.strictEqual(server.requests.length, before)
        yield* TestClock.adjust(1)
      }
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Failure")
    }
  )

  it.effect("gives the server finishTimeout after the last byte, not stallTimeout", function* () {
    const { release, server } = yield* holding("PATCH")
    const { events, fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => events.some(({ _tag }) => _tag === "Finishing"))
    yield* TestClock.adjust("59 seconds")
    yield* release
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.deepStrictEqual(delaysOf(events), [])
    assert.deepStrictEqual(server.requests, ["POST", "PATCH"])
  })

  it.effect("and asks where it stands when that is over", function* () {
    const { release, server } = yield* holding("PATCH")
    const { events, fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => events.some(({ _tag }) => _tag === "Finishing"))
    // Its time may begin a moment after the event.
    let seconds = 0
    for (; delaysOf(events).length === 0 && seconds < 600; seconds++) {
      yield* TestClock.adjust("1 second")
      yield* TestClock.withLive(Effect.sleep("1 millis"))
    }
    assert.isAtLeast(seconds, 60)
    assert.strictEqual(delaysOf(events).length, 1)
    yield* release
    yield* TestClock.adjust("1 second")
    yield* Scene.soon(() => server.requests.includes("HEAD"))
    yield* Fiber.interrupt(fiber)
  })

  it.effect.each([
    ["POST", 10, {}],
    ["FINAL", 2 * 1024 * 1024, { parallel: 2 }]
  ] as const)("gives the creation %s of %d bytes finishTimeout too", function* ([method, size, more]) {
    const { release, server } = yield* holding(method)
    const { fiber } = yield* begin(server, size, more)
    yield* Scene.soon(() => server.requests.includes(method))
    yield* TestClock.adjust("59 seconds")
    yield* release
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.notInclude(server.requests, "GET")
  })

  it.effect("gives a creation without bytes stallTimeout, and looks for its receipt then", function* () {
    const { release, server } = yield* holding("POST")
    const { fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => server.requests.length === 1)
    yield* TestClock.adjust("1 second")
    yield* Scene.soon(() => server.requests.includes("GET"))
    yield* release
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.strictEqual(server.requests.filter((method) => method === "POST").length, 1)
  })

  it.effect(
    "whose creation stalled, without a receipt: stays Creating in the journal, and the next run does not repeat it",
    UploadJournal.layerMemory(),
    function* () {
      const server = yield* ScriptedTus.changing("POST", (go, index) => (index === 0 ? never : go()))
      const source = UploadSource.fromBytes(bytes)
      const run = Effect.flip(Upload.journaled.run(server.target, source, { ...limits, retryDelay: 0 }))
      const first = yield* Effect.forkChild(run)
      yield* Scene.soon(() => server.requests.includes("POST"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(first))._tag, "CreationUnknown")
      const { list } = yield* UploadJournal.UploadJournal
      const states = (yield* list).map(({ entry }) => entry.state._tag)
      assert.deepStrictEqual(states, ["Creating"])
      assert.strictEqual((yield* run)._tag, "CreationUnknown")
      assert.strictEqual(ScriptedTus.count(server, "POST"), 1)
    }
  )

  it.effect("gives a question for the offset stallTimeout, not finishTimeout, and asks again then", function* () {
    const server = yield* ScriptedTus.make
    server.meet = ({ method }, go) => {
      const isFirst = ScriptedTus.count(server, method) === 1
      if (isFirst && method === "PATCH") return { status: 500 }
      return isFirst && method === "HEAD" ? never : go()
    }
    const { events, fiber } = yield* begin(server, 300_000)
    yield* Scene.soon(() => delaysOf(events).length === 1)
    yield* TestClock.adjust("100 millis")
    yield* Scene.soon(() => server.requests.includes("HEAD"))
    yield* TestClock.adjust("1 second")
    yield* Scene.soon(() => delaysOf(events).length === 2)
    const stalled = `offset at ${new URL(server.origin).host}: nothing was sent or received for 1s`
    assert.deepInclude(events.findLast(UploadEvent.$is("Retrying")), { reason: stalled })
    yield* TestClock.adjust("200 millis")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    assert.deepStrictEqual(server.requests, ["POST", "PATCH", "HEAD", "HEAD", "PATCH"])
  })
})
