import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Client from "@assembly-effect/api/AssemblyClient"
import * as Operation from "@assembly-effect/api/Operation"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
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

/** Runs an effect on the TestClock, by default without retries. Returns the requests and the duration in seconds. */
const outcomeWith = <A, E extends AnyError>(
  policy: Layer.Layer<never>,
  effect: Effect.Effect<A, E, Client.AssemblyClient>,
  ...lines: ReadonlyArray<Service.Line>
) =>
  Effect.gen(function* () {
    const service = Service.make(...lines)
    const layer = Service.client(service).pipe(Layer.provide(policy))
    const { seconds, value } = yield* Idle.passTime(Effect.result(Effect.provide(effect, layer)))
    return { result: value, requests: service.requests, methods: service.methods, seconds }
  })

const strangerId = "f".repeat(32)
const strangers: Readonly<Record<string, object>> = {
  assembly_id: { ...status, assembly_id: strangerId },
  assembly_ssl_url: { ...status, assembly_ssl_url: `https://api2.example.com/assemblies/${strangerId}` },
  "assembly_url without assembly_id": {
    ok: "ASSEMBLY_EXECUTING",
    assembly_url: `http://api2.example.com/assemblies/${strangerId}`
  },
  "assembly_id of an error": { error: "INTERNAL_COMMAND_ERROR", assembly_id: strangerId }
}
const withoutId = Service.json(200, { ok: "ASSEMBLY_COMPLETED" })

const outcome = <A, E extends AnyError>(
  effect: Effect.Effect<A, E, Client.AssemblyClient>,
  ...lines: ReadonlyArray<Service.Line>
) => outcomeWith(RetryPolicy.layerNone, effect, ...lines)

/** A replay, as a program may describe it. */
const Replay = Operation.make({
  ...Assemblies.Create,
  name: "Assemblies.replay",
  path: "/assemblies/:assemblyId/replay",
  answers: "result",
  success: Schema.Struct({ ok: Schema.String, assembly_id: Schema.String }),
  retry: []
})
const input = { path: { assemblyId }, params: {}, fields: {} }

describe("the Status of another Assembly", () => {
  const operations: Readonly<Record<string, Effect.Effect<unknown, AnyError, Client.AssemblyClient>>> = {
    create: Assemblies.create({ assemblyId, templateId: "t" }),
    get: Assemblies.get(assemblyId),
    cancel: Assemblies.cancel(assemblyId),
    awaitCompletion: Assemblies.awaitCompletion(assemblyId),
    watch: Stream.runDrain(Assemblies.watch(assemblyId))
  }
  for (const [name, operation] of Object.entries(operations)) {
    for (const [sign, stranger] of Object.entries(strangers)) {
      it.effect(`${name} fails with UnexpectedResponse for the Status of another Assembly (${sign})`, () =>
        Effect.gen(function* () {
          const { result } = yield* outcome(operation, Service.json(200, stranger))
          assert.strictEqual(result._tag, "Failure")
          if (result._tag === "Failure") {
            const { _tag, message } = result.failure
            assert.strictEqual(_tag, "UnexpectedResponse")
            assert.include(message, "the Status of another Assembly")
            assert.notInclude(JSON.stringify(result.failure), strangerId)
            assert.strictEqual(result.failure.assemblyId, assemblyId)
          }
        })
      )
    }
  }

  it.effect("cancel reads the Status again if DELETE returns the Status of another Assembly", () =>
    Effect.gen(function* () {
      const stranger = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED", assembly_id: strangerId })
      const canceled = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED" })
      const { result } = yield* outcome(Assemblies.cancel(assemblyId), busy, stranger, canceled)
      assert.deepStrictEqual(
        Result.map(result, ({ assembly_id }) => assembly_id),
        Result.succeed(assemblyId)
      )
    })
  )

  it.effect("an error has the id of the request, not the assembly_id of the response", () =>
    Effect.gen(function* () {
      const refused = Service.json(400, { error: "INVALID_STEPS", assembly_id: strangerId })
      const { result } = yield* outcome(
        Client.AssemblyClient.use((client) => client.run(Replay, input)),
        refused
      )
      assert.deepStrictEqual(
        Result.mapError(result, (error) => (error as AnyError).assemblyId),
        Result.fail(assemblyId)
      )
    })
  )

  it.effect("a replay returns the Status of another Assembly", () =>
    Effect.gen(function* () {
      const replayed = { ok: "ASSEMBLY_REPLAYING", assembly_id: strangerId }
      const { result } = yield* outcome(
        Client.AssemblyClient.use((client) => client.run(Replay, input)),
        Service.json(200, replayed)
      )
      assert.deepStrictEqual(result, Result.succeed(replayed))
    })
  )

  it.effect("awaitCompletion adds the id to a Status without one; get refuses a body without ok and error", () =>
    Effect.gen(function* () {
      const { result } = yield* outcome(Assemblies.awaitCompletion(assemblyId), withoutId)
      assert.deepStrictEqual(
        Result.map(result, ({ assembly_id }) => assembly_id),
        Result.succeed(assemblyId)
      )
      const nothing = yield* outcome(Assemblies.get(assemblyId), Service.json(200, { message: "hello" }))
      assert.deepInclude(Result.getFailure(nothing.result).pipe(Option.getOrThrow), { _tag: "UnexpectedResponse" })
    })
  )
})

describe("create", () => {
  const create = Assemblies.create({ assemblyId, templateId: "t" })
  const missing = Service.json(404, { error: "ASSEMBLY_NOT_FOUND" })

  it.effect("create generates another id of 32 hexadecimal digits for each Assembly", () =>
    Effect.gen(function* () {
      const each = Effect.all([Assemblies.create({}), Assemblies.create({})])
      const { requests } = yield* outcome(each, withoutId)
      const ids = requests.map((url) => url.pathname.split("/").at(-1) ?? "")
      assert.strictEqual(new Set(ids.map((id) => AssemblyId.make(id))).size, 2)
    })
  )

  const lost: Readonly<Record<string, Service.Line>> = {
    "a lost connection": Service.lost,
    "an HTML 502": Service.text(502, "<html>"),
    "an HTML 504": Service.text(504, "<html>"),
    "a 504 in JSON": Service.json(504, { error: "GATEWAY_TIMEOUT", message: "no answer in time" }),
    "a 500 in JSON": Service.json(500, { error: "SERVER_500" }),
    "a 504 without a body": Service.text(504, ""),
    "half a response": Service.text(200, '{"ok":'),
    "no response": Service.silence
  }
  for (const [name, line] of Object.entries(lost)) {
    it.effect(`create returns the Status of a GET after ${name}, and sends no second POST`, () =>
      Effect.gen(function* () {
        const { requests, result } = yield* outcome(create, line, busy)
        assert.strictEqual(result._tag, "Success")
        assert.deepStrictEqual(
          requests.map((url) => url.pathname),
          [`/assemblies/${assemblyId}`, `/assemblies/${assemblyId}`]
        )
      })
    )

    it.effect(`create fails with the first error and the id after ${name} if the id is unknown`, () =>
      Effect.gen(function* () {
        const { requests, result } = yield* outcome(create, line, missing)
        assert.strictEqual(requests.length, 2)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") {
          assert.include(["TransportFailure", "UnexpectedResponse", "ServiceFailure", "TimedOut"], result.failure._tag)
          assert.strictEqual((result.failure as AnyError).assemblyId, assemblyId)
        }
      })
    )
  }

  it.effect("create sends POST and then GET after a lost response, with the standard policy", () =>
    Effect.gen(function* () {
      const policy = Layer.succeed(RetryPolicy.RetryPolicy, RetryPolicy.standard)
      for (const line of Object.values(lost)) {
        const { methods, result } = yield* outcomeWith(policy, create, line, busy)
        assert.deepStrictEqual([result._tag, ...methods], ["Success", "POST", "GET"])
      }
    })
  )

  it.effect("create fails with the id after one request if the response is INVALID_TEMPLATE", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* outcome(create, Service.json(400, { error: "INVALID_TEMPLATE" }), busy)
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(result._tag, "Failure")
      if (result._tag === "Failure") assert.strictEqual((result.failure as AnyError).assemblyId, assemblyId)
    })
  )

  it.effect("create fails after one request with status 400, 403, 404, 413 or 501 and any body", () =>
    Effect.gen(function* () {
      for (const refused of [400, 403, 404, 413, 501]) {
        for (const line of [Service.text(refused, "<html>"), Service.json(refused, { error: "X" })]) {
          const { requests, result } = yield* outcome(create, line, busy)
          assert.deepStrictEqual([requests.length, result._tag], [1, "Failure"], String(refused))
        }
      }
    })
  )

  it.effect("create does not read the Status after a failure with sent `no`", () =>
    Effect.gen(function* () {
      // In the client the transport provides it; in this test a client does.
      const asked: Array<string> = []
      const client = Client.layerTest([
        Client.handler(Assemblies.Create, () => {
          asked.push("Assemblies.create")
          return Effect.fail(
            new ApiError.TransportFailure({ operation: "Assemblies.create", description: "refused", sent: "no" })
          )
        }),
        Client.handler(Assemblies.Get, ({ path }) => {
          asked.push("Assemblies.get")
          return Effect.succeed({ ok: "ASSEMBLY_EXECUTING", assembly_id: path.assemblyId })
        })
      ])
      yield* Effect.flip(Effect.provide(create, client))
      assert.deepStrictEqual(asked, ["Assemblies.create"])
    })
  )

  it.effect("ASSEMBLY_ID_TAKEN fails for an id of the caller, and reads the Status for a generated id", () =>
    Effect.gen(function* () {
      const taken = Service.json(409, { error: "ASSEMBLY_ID_TAKEN" })
      const chosen = yield* outcome(create, taken, busy)
      assert.deepStrictEqual([chosen.requests.length, chosen.result._tag], [1, "Failure"])
      const drawn = yield* outcome(Assemblies.create({}), taken, withoutId)
      assert.deepStrictEqual([drawn.requests.length, drawn.result._tag], [2, "Success"])
    })
  )

  it.effect("create returns the Status of an Assembly that fails at once", () =>
    Effect.gen(function* () {
      const failed = Service.json(400, { error: "INVALID_FILE_META_DATA", assembly_id: assemblyId })
      const { result } = yield* outcome(create, failed)
      assert.deepInclude(result, { _tag: "Success" })
    })
  )
})

it.effect("an invalid id fails with InvalidRequest that names the called operation, and sends nothing", () =>
  Effect.gen(function* () {
    const id = "x" as typeof assemblyId
    const calls = {
      get: Assemblies.get(id),
      cancel: Assemblies.cancel(id),
      awaitCompletion: Assemblies.awaitCompletion(id),
      watch: Stream.runDrain(Assemblies.watch(id))
    }
    for (const [name, call] of Object.entries(calls)) {
      const { requests, result } = yield* outcome(Effect.asVoid(call as typeof calls.get), Service.json(200, status))
      assert.deepInclude(Result.isFailure(result) && result.failure, {
        _tag: "InvalidRequest",
        operation: `Assemblies.${name}`
      })
      assert.strictEqual(requests.length, 0)
    }
  })
)

describe("cancel", () => {
  const cancel = Assemblies.cancel(assemblyId)
  const canceled = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED" })
  const at = (address: string | null) => Service.json(200, { ...status, assembly_ssl_url: address })

  const own = `https://api2.example.com/assemblies/${assemblyId}`
  const node = `https://node-3.example.com/assemblies/${assemblyId}`

  const addresses: ReadonlyArray<readonly [string | null, string]> = [
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
  ]
  for (const [address, expected] of addresses) {
    it.effect(`cancel sends DELETE to ${new URL(expected).host} if assembly_ssl_url is ${address}`, () =>
      Effect.gen(function* () {
        const service = Service.make(at(address), canceled)
        const client = Service.client(service, { origins: ["https://node-*.example.com"] })
        yield* Effect.provide(cancel, client)
        assert.strictEqual(service.requests[1]?.href, expected)
      })
    )
  }
})

describe("cancel without a response", () => {
  const cancel = Assemblies.cancel(assemblyId)
  const canceled = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED" })
  const missing = Service.json(404, { error: "ASSEMBLY_NOT_FOUND" })

  /** The methods of the sent requests, with the default retry policy. */
  const sent = (...lines: ReadonlyArray<Service.Line>) =>
    Effect.gen(function* () {
      const methods: Array<string> = []
      const kept = lines.map((line): Service.Line => (request, url) => {
        methods.push(request.method)
        return line(request, url)
      })
      const { result } = yield* outcomeWith(
        Layer.succeed(RetryPolicy.RetryPolicy, RetryPolicy.standard),
        cancel,
        ...kept
      )
      return [methods.join(" "), result._tag === "Success" ? result.success.ok : result.failure._tag]
    })

  const open: Readonly<Record<string, readonly [Service.Line, string]>> = {
    "a lost connection": [Service.lost, "TransportFailure"],
    "an HTML 502": [Service.text(502, "<html>"), "UnexpectedResponse"],
    "a 503 in JSON": [Service.json(503, { error: "SERVER_503" }), "ServiceFailure"],
    "half a response": [Service.text(200, '{"ok":'), "UnexpectedResponse"],
    "no response": [Service.silence, "TimedOut"],
    "404": [missing, "ServiceFailure"],
    "404 in HTML": [Service.text(404, "<html>"), "ServiceFailure"],
    "410": [Service.json(410, { error: "ASSEMBLY_EXPIRED" }), "ServiceFailure"]
  }
  for (const [name, [line, tag]] of Object.entries(open)) {
    it.effect(`cancel returns the ended Status of a GET after ${name}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sent(busy, line, canceled), ["GET DELETE GET", "ASSEMBLY_CANCELED"])
        assert.deepStrictEqual(yield* sent(busy, line, completed), ["GET DELETE GET", "ASSEMBLY_COMPLETED"])
      })
    )

    it.effect(`cancel fails after ${name} if the Assembly has not ended, and sends no second DELETE`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sent(busy, line, busy), ["GET DELETE GET GET", "UnexpectedResponse"])
        assert.deepStrictEqual(yield* sent(busy, line, missing), ["GET DELETE GET", tag])
      })
    )
  }

  for (const standing of [
    { ok: "ASSEMBLY_EXECUTING" },
    { ok: "ASSEMBLY_NEW_STATE" },
    { ok: null },
    {},
    { error: "" },
    { error: null }
  ]) {
    it.effect(`cancel reads the Status again if DELETE returns ${JSON.stringify(standing)}`, () =>
      Effect.gen(function* () {
        const unclear = Service.json(200, { assembly_id: assemblyId, ...standing })
        assert.deepStrictEqual(yield* sent(busy, unclear, canceled), ["GET DELETE GET", "ASSEMBLY_CANCELED"])
        assert.deepStrictEqual(yield* sent(busy, unclear), ["GET DELETE GET", "UnexpectedResponse"])
      })
    )
  }

  it.effect("cancel fails with ServiceFailure if DELETE gets a 403", () =>
    Effect.gen(function* () {
      const refused = Service.json(403, { error: "X" })
      assert.deepStrictEqual(yield* sent(busy, refused, canceled), ["GET DELETE", "ServiceFailure"])
    })
  )
})

describe("awaitCompletion", () => {
  const wait = Assemblies.awaitCompletion(assemblyId)

  for (const [name, standing] of Object.entries({
    "neither ok nor error": {},
    "an empty error": { error: "" },
    "a null error": { error: null, ok: null },
    "an unknown ok": { ok: "ASSEMBLY_NEW_STATE" }
  })) {
    it.effect(`awaitCompletion and watch read the Status again if it has ${name}`, () =>
      Effect.gen(function* () {
        const unclear = Service.json(200, { assembly_id: assemblyId, ...standing })
        const { requests, result } = yield* outcome(wait, busy, unclear, unclear, completed)
        assert.deepStrictEqual([requests.length, result._tag], [4, "Success"])
        const never = yield* outcome(Assemblies.awaitCompletion(assemblyId, { timeout: "1 minute" }), unclear)
        assert.deepInclude(Option.getOrThrow(Result.getFailure(never.result)), { _tag: "TimedOut" })
        const watched = yield* outcome(Stream.runCollect(Assemblies.watch(assemblyId)), unclear, completed)
        assert.deepInclude(watched.result, { _tag: "Success" })
        assert.strictEqual(watched.requests.length, 2)
      })
    )
  }

  it.effect("awaitCompletion reads the Status with growing pauses until the Assembly has completed", () =>
    Effect.gen(function* () {
      const { requests, result, seconds } = yield* outcome(wait, uploading, busy, busy, busy, completed)
      assert.strictEqual(requests.length, 5)
      assert.deepInclude(result, { _tag: "Success" })
      // 1 + 1.5 + 2.25 + 3.375 seconds, each up to a tenth longer.
      assert.isAtLeast(seconds, 8)
      assert.isAtMost(seconds, 12)
    })
  )

  const endings: ReadonlyArray<readonly [object, "AssemblyCanceled" | "AssemblyAborted" | "AssemblyFailed", string]> = [
    [{ ok: "ASSEMBLY_CANCELED" }, "AssemblyCanceled", "ASSEMBLY_CANCELED"],
    [{ ok: "REQUEST_ABORTED" }, "AssemblyAborted", "REQUEST_ABORTED"],
    [{ error: "INPUT_FILE_UNREADABLE", message: "no" }, "AssemblyFailed", "INPUT_FILE_UNREADABLE"],
    [{ error: "A", ok: "ASSEMBLY_COMPLETED" }, "AssemblyFailed", "A"],
    [{ error: "B", ok: "ASSEMBLY_EXECUTING" }, "AssemblyFailed", "B"]
  ]
  for (const [fields, tag, code] of endings) {
    it.effect(`awaitCompletion fails with ${tag} for ${JSON.stringify(fields)}`, () =>
      Effect.gen(function* () {
        const ended = Service.json(200, { assembly_id: assemblyId, ...fields })
        const { result } = yield* outcome(wait, busy, ended)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: tag, code, assemblyId })
      })
    )
  }

  it.effect("awaitCompletion waits as long as a rate limit requests, and continues", () =>
    Effect.gen(function* () {
      const { requests, result, seconds } = yield* outcome(wait, busy, limited, limited, completed)
      assert.strictEqual(result._tag, "Success")
      assert.strictEqual(requests.length, 4)
      assert.isAtLeast(seconds, 41)
    })
  )

  it.effect("awaitCompletion fails with TimedOut if the Assembly has not ended within timeout", () =>
    Effect.gen(function* () {
      const { result, seconds } = yield* outcome(Assemblies.awaitCompletion(assemblyId, { timeout: "1 minute" }), busy)
      assert.strictEqual(result._tag, "Failure")
      if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "TimedOut", assemblyId })
      assert.isAtMost(seconds, 62)
    })
  )
})

describe("a rate limit of the Status", () => {
  const named = (retryIn: unknown) =>
    Service.json(429, { error: "ASSEMBLY_STATUS_FETCHING_RATE_LIMIT_REACHED", info: { retryIn } })
  const followers: ReadonlyArray<Effect.Effect<unknown, AnyError, Client.AssemblyClient>> = [
    Assemblies.awaitCompletion(assemblyId, { timeout: "1 day" }),
    Stream.runDrain(Assemblies.watch(assemblyId))
  ]

  it.effect.each([61, 999_999_999, 1e300, 1e306])("awaitCompletion and watch fail if retryIn is %s s", (seconds) =>
    Effect.gen(function* () {
      for (const follow of followers) {
        const { requests, result } = yield* outcome(follow, busy, named(seconds), completed)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag !== "Failure") continue
        const error = result.failure
        assert(error instanceof ApiError.RateLimited)
        assert.isAtLeast(Duration.toSeconds(error.retryAfter), Math.min(seconds, 1e12))
        assert.isTrue(Number.isFinite(Duration.toMillis(error.retryAfter)))
        assert.strictEqual(requests.length, 2)
      }
    })
  )

  it.effect.each([-1, "soon", null])("awaitCompletion and watch ignore an invalid retryIn: %s", (retryIn) =>
    Effect.gen(function* () {
      for (const follow of followers) {
        const { requests, result, seconds } = yield* outcome(follow, busy, named(retryIn), completed)
        assert.strictEqual(result._tag, "Success")
        assert.strictEqual(requests.length, 3)
        assert.isBelow(seconds, 10)
      }
    })
  )
})

describe("watch without an update stream", () => {
  it.effect("watch emits each change once and ends with the Assembly", () =>
    Effect.gen(function* () {
      const watch = Stream.runCollect(Assemblies.watch(assemblyId))
      const { requests, result } = yield* outcome(watch, uploading, uploading, busy, limited, busy, completed)
      assert.strictEqual(requests.length, 6)
      assert.strictEqual(result._tag, "Success")
      if (result._tag === "Success") {
        assert.deepStrictEqual(
          Array.from(result.success, ({ ok }) => ok),
          ["ASSEMBLY_UPLOADING", "ASSEMBLY_EXECUTING", "ASSEMBLY_COMPLETED"]
        )
      }
    })
  )

  it.effect("watch reads the Status after a second again if it has changed", () =>
    Effect.gen(function* () {
      const still = Array.from({ length: 10 }, () => uploading)
      const seconds: Array<number> = []
      const timed =
        (line: Service.Line): Service.Line =>
        (request, url) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            seconds.push(now / 1000)
            return line(request, url)
          })
      const watch = Stream.runDrain(Assemblies.watch(assemblyId, { maxInterval: "1 hour" }))
      yield* outcome(watch, ...still, timed(busy), timed(completed))
      // The pauses start again at 1 second, instead of growing from the last pause of 38 seconds.
      const [changed = 0, ended = 0] = seconds
      assert.isAtMost(ended - changed, 2)
    })
  )

  it.effect("watch fails if a read of the Status gets ASSEMBLY_NOT_FOUND", () =>
    Effect.gen(function* () {
      const watch = Stream.runDrain(Assemblies.watch(assemblyId))
      const { result } = yield* outcome(watch, busy, Service.json(404, { error: "ASSEMBLY_NOT_FOUND" }))
      assert.strictEqual(result._tag, "Failure")
    })
  )
})
