/** Creating, following and canceling an Assembly, on the TestClock, against scripted responses. */
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Clock, Duration, Effect, Layer, Option, Predicate, Result, Stream } from "effect"
import { ApiError, Assemblies, AssemblyClient as Client, RetryPolicy } from "@assembly-effect/api"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Service from "./utils/FakeService.ts"
import type { AnyError } from "./utils/operations.ts"
import { assemblyId, status } from "./utils/operations.ts"

const busy = Service.json(200, status)
const uploading = Service.json(200, { ...status, ok: "ASSEMBLY_UPLOADING" })
const completed = Service.json(200, { ...status, ok: "ASSEMBLY_COMPLETED" })
const limited = Service.json(429, {
  error: "ASSEMBLY_STATUS_FETCHING_RATE_LIMIT_REACHED",
  assembly_id: assemblyId,
  info: { retryIn: 20 }
})

const canceled = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED" })
const missing = Service.json(404, { error: "ASSEMBLY_NOT_FOUND" })
const withoutId = Service.json(200, { ok: "ASSEMBLY_COMPLETED" })
const standard = Layer.succeed(RetryPolicy.RetryPolicy, RetryPolicy.standard)

/**
 * Runs an effect against these responses, by default without retries. `seen` has the methods of the requests, and the
 * outcome: the `ok` of a Status, `Success`, or the tag of an error.
 */
const outcome = <A, E extends AnyError>(
  effect: Effect.Effect<A, E, Client.AssemblyClient>,
  lines: ReadonlyArray<Service.Line>,
  policy: Layer.Layer<never> = RetryPolicy.layerNone
) =>
  Effect.gen(function* () {
    const service = Service.make(...lines)
    const layer = Service.client(service).pipe(Layer.provide(policy))
    const { seconds, value } = yield* Idle.passTime(Effect.result(Effect.provide(effect, layer)))
    const end = Result.match(value, {
      onSuccess: (found) => (Predicate.hasProperty(found, "ok") ? String(found.ok) : "Success"),
      onFailure: ({ _tag }) => _tag
    })
    const error: AnyError | undefined = Option.getOrUndefined(Result.getFailure(value))
    return { seen: [...service.methods, end].join(" "), error, value, requests: service.requests, seconds }
  })

const strangerId = "f".repeat(32)

describe("the Status of another Assembly", () => {
  const strangers: Readonly<Record<string, object>> = {
    assembly_id: { ...status, assembly_id: strangerId },
    assembly_ssl_url: { ...status, assembly_ssl_url: `https://api2.example.com/assemblies/${strangerId}` },
    "assembly_url without assembly_id": {
      ok: "ASSEMBLY_EXECUTING",
      assembly_url: `http://api2.example.com/assemblies/${strangerId}?x=1`
    },
    "assemblyId of older responses": { ok: "ASSEMBLY_EXECUTING", assemblyId: strangerId },
    "assembly_id of an error": { error: "INTERNAL_COMMAND_ERROR", assembly_id: strangerId }
  }
  const operations: Readonly<Record<string, Effect.Effect<unknown, AnyError, Client.AssemblyClient>>> = {
    create: Assemblies.create({ assemblyId, templateId: "t" }),
    get: Assemblies.get(assemblyId),
    cancel: Assemblies.cancel(assemblyId),
    awaitCompletion: Assemblies.awaitCompletion(assemblyId),
    watch: Stream.runDrain(Assemblies.watch(assemblyId))
  }
  const cases = Object.entries(operations).flatMap(([name, operation]) =>
    Object.entries(strangers).map(([sign, stranger]) => [name, sign, operation, stranger] as const)
  )
  it.effect.each(cases)("%s fails with UnexpectedResponse for another %s", function* ([, , operation, stranger]) {
    const { error } = yield* outcome(operation, [Service.json(200, stranger)])
    assert.deepInclude(error, { _tag: "UnexpectedResponse", assemblyId })
    assert.include(error?.message, "the Status of another Assembly")
    assert.notInclude(JSON.stringify(error), strangerId)
  })

  it.effect.each([
    {},
    { assembly_id: null },
    { assembly_ssl_url: `https://API2.EXAMPLE.COM/ASSEMBLIES/${assemblyId}?x=/assemblies/${strangerId}` },
    { assembly_ssl_url: "https://api2.example.com/assemblies/other" },
    { assembly_ssl_url: `https://api2.example.com/assemblies/${strangerId}0` },
    { assembly_ssl_url: `https://api2.example.com/files/${strangerId}`, parent_id: strangerId }
  ])("get accepts %j, which names no other Assembly", function* (fields) {
    const { seen } = yield* outcome(Assemblies.get(assemblyId), [
      Service.json(200, { ok: "ASSEMBLY_COMPLETED", ...fields })
    ])
    assert.strictEqual(seen, "GET ASSEMBLY_COMPLETED")
  })

  it.effect("cancel reads the Status again if DELETE returns the Status of another Assembly", function* () {
    const stranger = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED", assembly_id: strangerId })
    const { seen, value } = yield* outcome(Assemblies.cancel(assemblyId), [busy, stranger, canceled])
    assert.strictEqual(seen, "GET DELETE GET ASSEMBLY_CANCELED")
    assert.deepInclude(Option.getOrThrow(Result.getSuccess(value)), { assembly_id: assemblyId })
  })

  it.effect("a replay returns the Status of another Assembly; its error has the id of the request", function* () {
    const replay = Assemblies.replay(assemblyId)
    const replayed = { ok: "ASSEMBLY_REPLAYING", success: true, assembly_id: strangerId, notify_url: null }
    const { value } = yield* outcome(replay, [Service.json(200, replayed)])
    assert.deepStrictEqual<object>(value, Result.succeed(replayed))
    const refused = Service.json(400, { error: "INVALID_STEPS", assembly_id: strangerId })
    assert.deepInclude((yield* outcome(replay, [refused])).error, { assemblyId })
  })

  it.effect("awaitCompletion adds a missing id; get refuses a body without ok and error", function* () {
    const { value } = yield* outcome(Assemblies.awaitCompletion(assemblyId), [withoutId])
    assert.deepInclude(Option.getOrThrow(Result.getSuccess(value)), { assembly_id: assemblyId })
    const nothing = yield* outcome(Assemblies.get(assemblyId), [Service.json(200, { message: "hello" })])
    assert.strictEqual(nothing.seen, "GET UnexpectedResponse")
  })
})

/** Responses after which it is unknown what the service did, and the tags of their errors. */
const lost: ReadonlyArray<readonly [string, Service.Line, string]> = [
  ["a lost connection", Service.lost, "TransportFailure"],
  ["an HTML 502", Service.text(502, "<html>"), "UnexpectedResponse"],
  ["a 503 in JSON", Service.json(503, { error: "SERVER_503" }), "ServiceFailure"],
  ["a 504 without a body", Service.text(504, ""), "UnexpectedResponse"],
  ["half a response", Service.text(200, '{"ok":'), "UnexpectedResponse"],
  ["no response", Service.silence, "TimedOut"]
]

describe("create", () => {
  const create = Assemblies.create({ assemblyId, templateId: "t" })

  it.effect("create generates another id of 32 hexadecimal digits for each Assembly", function* () {
    const { requests } = yield* outcome(Effect.all([Assemblies.create({}), Assemblies.create({})]), [withoutId])
    const ids = requests.map((url) => url.pathname.split("/").at(-1) ?? "")
    assert.strictEqual(new Set(ids.map((id) => AssemblyId.make(id))).size, 2)
  })

  it.effect.each(lost)("create reads the Status after %s, and sends no second POST", function* ([, line, tag]) {
    const found = yield* outcome(create, [line, busy], standard)
    assert.strictEqual(found.seen, "POST GET ASSEMBLY_EXECUTING")
    assert.deepStrictEqual(new Set(found.requests.map(({ pathname }) => pathname)).size, 1)
    const unknown = yield* outcome(create, [line, missing])
    assert.strictEqual(unknown.seen, `POST GET ${tag}`)
    assert.deepInclude(unknown.error, { assemblyId })
  })

  it.effect.each([400, 403, 404, 413, 501])("create fails with its id after one request with %s", function* (refused) {
    for (const line of [Service.text(refused, "<html>"), Service.json(refused, { error: "X" })]) {
      const { error, requests } = yield* outcome(create, [line, busy])
      assert.deepInclude(error, { assemblyId })
      assert.strictEqual(requests.length, 1)
    }
  })

  it.effect("create does not read the Status after a failure with sent `no`", function* () {
    const operation = "Assemblies.create"
    const refused = new ApiError.TransportFailure({ operation, description: "refused", sent: "no" })
    // `Assemblies.get` would die, because it has no handler.
    const client = Client.layerTest([Client.handler(Assemblies.Create, () => Effect.fail(refused))])
    assert.strictEqual(yield* Effect.flip(Effect.provide(create, client)), refused)
  })

  it.effect("ASSEMBLY_ID_TAKEN fails for an id of the caller, and reads the Status for a generated id", function* () {
    const taken = Service.json(409, { error: "ASSEMBLY_ID_TAKEN" })
    assert.strictEqual((yield* outcome(create, [taken, busy])).seen, "POST ServiceFailure")
    const drawn = yield* outcome(Assemblies.create({}), [taken, withoutId])
    assert.strictEqual(drawn.seen, "POST GET ASSEMBLY_COMPLETED")
  })

  it.effect("create returns the Status of an Assembly that fails at once", function* () {
    const failed = Service.json(400, { error: "INVALID_FILE_META_DATA", assembly_id: assemblyId })
    assert.strictEqual((yield* outcome(create, [failed])).error, undefined)
  })
})

it.effect("an invalid id fails with InvalidRequest that names the called operation, and sends nothing", function* () {
  const id = "x" as typeof assemblyId
  const calls: Readonly<Record<string, Effect.Effect<unknown, AnyError, Client.AssemblyClient>>> = {
    get: Assemblies.get(id),
    cancel: Assemblies.cancel(id),
    awaitCompletion: Assemblies.awaitCompletion(id),
    watch: Stream.runDrain(Assemblies.watch(id))
  }
  for (const [name, call] of Object.entries(calls)) {
    const { error, seen } = yield* outcome(call, [busy])
    assert.deepInclude<object | undefined>(error, { operation: `Assemblies.${name}` })
    assert.strictEqual(seen, "InvalidRequest")
  }
})

describe("cancel", () => {
  const cancel = Assemblies.cancel(assemblyId)

  const own = `https://api2.example.com/assemblies/${assemblyId}`
  const node = `https://node-3.example.com/assemblies/${assemblyId}`
  it.effect.each([
    [node, node],
    [`https://NODE-3.example.com:443/assemblies/${assemblyId}`, node],
    [null, own],
    [`http://node-3.example.com/assemblies/${assemblyId}`, own],
    [`https://user@node-3.example.com/assemblies/${assemblyId}`, own],
    ["https://node-3.example.com/assemblies/other", own],
    [`https://node-3.example.com/x/../assemblies/${assemblyId}`, own],
    [`https://node-3.example.com/assemblies/%2e%2e/assemblies/${assemblyId}`, own],
    [`https://node-3.example.com.evil.example/assemblies/${assemblyId}`, own],
    [`https://evil.example/assemblies/${assemblyId}`, own],
    [`http://127.0.0.1:9200/assemblies/${assemblyId}`, own]
  ] as const)("cancel with the assembly_ssl_url %s sends DELETE to %s", function* ([address, expected]) {
    const service = Service.make(Service.json(200, { ...status, assembly_ssl_url: address }), canceled)
    yield* Effect.provide(cancel, Service.client(service, { origins: ["https://node-*.example.com"] }))
    assert.strictEqual(service.requests[1]?.href, expected)
  })

  it.effect.each([
    ...lost,
    ["404", missing, "ServiceFailure"],
    ["404 in HTML", Service.text(404, "<html>"), "ServiceFailure"],
    ["410", Service.json(410, { error: "ASSEMBLY_EXPIRED" }), "ServiceFailure"]
  ] as const)("after %s, cancel reads the Status and sends no second DELETE", function* ([, line, tag]) {
    for (const [last, expected] of [
      [canceled, "GET DELETE GET ASSEMBLY_CANCELED"],
      [completed, "GET DELETE GET ASSEMBLY_COMPLETED"],
      [busy, "GET DELETE GET GET UnexpectedResponse"],
      [missing, `GET DELETE GET ${tag}`]
    ] as const) {
      assert.strictEqual((yield* outcome(cancel, [busy, line, last], standard)).seen, expected)
    }
  })

  const executing = { ok: "ASSEMBLY_EXECUTING" }
  it.effect.each([executing, { ok: "ASSEMBLY_NEW_STATE" }, { ok: null }, {}, { error: "" }, { error: null }])(
    "cancel reads the Status again if DELETE returns %j",
    function* (standing) {
      const unclear = Service.json(200, { assembly_id: assemblyId, ...standing })
      const ended = yield* outcome(cancel, [busy, unclear, canceled])
      assert.strictEqual(ended.seen, "GET DELETE GET ASSEMBLY_CANCELED")
      assert.strictEqual((yield* outcome(cancel, [busy, unclear])).seen, "GET DELETE GET UnexpectedResponse")
    }
  )

  it.effect("cancel fails with ServiceFailure if DELETE gets a 403", function* () {
    const refused = Service.json(403, { error: "X" })
    assert.strictEqual((yield* outcome(cancel, [busy, refused, canceled])).seen, "GET DELETE ServiceFailure")
  })
})

describe("awaitCompletion", () => {
  const wait = Assemblies.awaitCompletion(assemblyId)
  const aMinute = Assemblies.awaitCompletion(assemblyId, { timeout: "1 minute" })

  it.effect.each([{}, { error: "" }, { error: null, ok: null }, { ok: "ASSEMBLY_NEW_STATE" }])(
    "awaitCompletion and watch read the Status again if it is %j",
    function* (standing) {
      const unclear = Service.json(200, { assembly_id: assemblyId, ...standing })
      const found = yield* outcome(wait, [busy, unclear, unclear, completed])
      assert.strictEqual(found.seen, "GET GET GET GET ASSEMBLY_COMPLETED")
      assert.deepInclude((yield* outcome(aMinute, [unclear])).error, { _tag: "TimedOut" })
      const watched = yield* outcome(Stream.runDrain(Assemblies.watch(assemblyId)), [unclear, completed])
      assert.strictEqual(watched.seen, "GET GET Success")
    }
  )

  it.effect("awaitCompletion reads the Status with growing pauses until the Assembly has completed", function* () {
    const { seconds, seen } = yield* outcome(wait, [uploading, busy, busy, busy, completed])
    assert.strictEqual(seen, "GET GET GET GET GET ASSEMBLY_COMPLETED")
    // 1 + 1.5 + 2.25 + 3.375 seconds, each up to a tenth longer.
    assert.isAtLeast(seconds, 8)
    assert.isAtMost(seconds, 12)
  })

  it.effect.each([
    [{ ok: "ASSEMBLY_CANCELED" }, "AssemblyCanceled", "ASSEMBLY_CANCELED"],
    [{ ok: "REQUEST_ABORTED" }, "AssemblyAborted", "REQUEST_ABORTED"],
    [{ error: "INPUT_FILE_UNREADABLE", message: "no" }, "AssemblyFailed", "INPUT_FILE_UNREADABLE"],
    [{ error: "A", ok: "ASSEMBLY_COMPLETED" }, "AssemblyFailed", "A"],
    [{ error: "B", ok: "ASSEMBLY_EXECUTING" }, "AssemblyFailed", "B"]
  ] as const)("awaitCompletion of %j fails with %s and the code %s", function* ([fields, tag, code]) {
    const { error } = yield* outcome(wait, [busy, Service.json(200, { assembly_id: assemblyId, ...fields })])
    assert.deepInclude(error, { _tag: tag, code, assemblyId })
  })

  it.effect("awaitCompletion waits as long as a rate limit requests, and continues", function* () {
    const { seconds, seen } = yield* outcome(wait, [busy, limited, limited, completed])
    assert.strictEqual(seen, "GET GET GET GET ASSEMBLY_COMPLETED")
    assert.isAtLeast(seconds, 41)
  })

  it.effect("awaitCompletion fails with TimedOut if the Assembly has not ended within timeout", function* () {
    const { error, seconds } = yield* outcome(aMinute, [busy])
    assert.deepInclude(error, { _tag: "TimedOut", assemblyId })
    assert.include(String(error), "the state of the Assembly is still ASSEMBLY_EXECUTING after 60 s")
    assert.isAtMost(seconds, 62)
  })
})

describe("a rate limit of the Status, with awaitCompletion and watch", () => {
  const named = (retryIn: unknown) =>
    Service.json(429, { error: "ASSEMBLY_STATUS_FETCHING_RATE_LIMIT_REACHED", info: { retryIn } })
  const followers: ReadonlyArray<Effect.Effect<unknown, AnyError, Client.AssemblyClient>> = [
    Assemblies.awaitCompletion(assemblyId, { timeout: "1 day" }),
    Stream.runDrain(Assemblies.watch(assemblyId))
  ]

  it.effect.each([61, 999_999_999, 1e300, 1e306])("both fail if retryIn is %s s", function* (seconds) {
    for (const follow of followers) {
      const { error, requests } = yield* outcome(follow, [busy, named(seconds), completed])
      assert(error instanceof ApiError.RateLimited)
      assert.isAtLeast(Duration.toSeconds(error.retryAfter), Math.min(seconds, 1e12))
      assert.isTrue(Number.isFinite(Duration.toMillis(error.retryAfter)))
      assert.strictEqual(requests.length, 2)
    }
  })

  it.effect.each([-1, "soon", null])("both ignore an invalid retryIn: %s", function* (retryIn) {
    for (const follow of followers) {
      const { error, requests, seconds } = yield* outcome(follow, [busy, named(retryIn), completed])
      assert.deepStrictEqual([error, requests.length], [undefined, 3])
      assert.isBelow(seconds, 10)
    }
  })
})

describe("watch without an update stream", () => {
  it.effect("watch emits each change once and ends with the Assembly", function* () {
    const states = Stream.map(Assemblies.watch(assemblyId), ({ ok }) => ok)
    const lines = [uploading, uploading, busy, limited, busy, completed]
    const { requests, value } = yield* outcome(Stream.runCollect(states), lines)
    assert.strictEqual(requests.length, 6)
    assert.deepStrictEqual(value, Result.succeed(["ASSEMBLY_UPLOADING", "ASSEMBLY_EXECUTING", "ASSEMBLY_COMPLETED"]))
  })

  it.effect("watch reads the Status after a second again if it has changed", function* () {
    const seconds: Array<number> = []
    const timed =
      (line: Service.Line): Service.Line =>
      (request, url) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          seconds.push(now / 1000)
          return line(request, url)
        })
    const watch = Stream.runDrain(Assemblies.watch(assemblyId, { maxInterval: "1 hour" }))
    yield* outcome(watch, [...Array.from({ length: 10 }, () => uploading), timed(busy), timed(completed)])
    // The pauses start again at 1 second, instead of growing from the last pause of 38 seconds.
    const [changed = 0, ended = 0] = seconds
    assert.isAtMost(ended - changed, 2)
  })

  it.effect("watch fails if a read of the Status gets ASSEMBLY_NOT_FOUND", function* () {
    const watch = Stream.runDrain(Assemblies.watch(assemblyId))
    assert.strictEqual((yield* outcome(watch, [busy, missing])).seen, "GET GET ServiceFailure")
  })
})
