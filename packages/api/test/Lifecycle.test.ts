import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
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

/** Runs to the end on the TestClock; tells the requests and the seconds it took. */
const outcome = <A, E extends AnyError>(
  effect: Effect.Effect<A, E, AssemblyClient>,
  ...lines: ReadonlyArray<Service.Line>
) =>
  Effect.gen(function* () {
    const service = Service.make(...lines)
    const layer = Service.client(service).pipe(Layer.provide(RetryPolicy.layerNone))
    const fiber = yield* Effect.forkChild(Effect.result(Effect.provide(effect, layer)))
    let seconds = 0
    for (; fiber.pollUnsafe() === undefined && seconds < 4000; seconds++) {
      for (let turn = 0; turn < 10; turn++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      yield* TestClock.adjust("1 second")
    }
    return { result: yield* Fiber.join(fiber), requests: service.requests, seconds }
  })

describe("create", () => {
  const create = Assemblies.create({ assemblyId, templateId: "t" })
  const missing = Service.json(404, { error: "ASSEMBLY_NOT_FOUND" })

  it.effect("draws another id of 32 hexadecimal digits for each Assembly", () =>
    Effect.gen(function* () {
      const each = Effect.all([Assemblies.create({}), Assemblies.create({})])
      const { requests } = yield* outcome(each, busy)
      const ids = requests.map((url) => url.pathname.split("/").at(-1) ?? "")
      assert.strictEqual(new Set(ids.map((id) => AssemblyId.make(id))).size, 2)
    })
  )

  const lost: Readonly<Record<string, Service.Line>> = {
    "a lost connection": Service.lost,
    "an HTML 502": Service.text(502, "<html>"),
    "half an answer": Service.text(200, '{"ok":'),
    "no answer": Service.silence
  }
  for (const [name, line] of Object.entries(lost)) {
    it.effect(`after ${name}, the Status under the chosen id is the answer; nothing is created twice`, () =>
      Effect.gen(function* () {
        const { requests, result } = yield* outcome(create, line, busy)
        assert.strictEqual(result._tag, "Success")
        assert.deepStrictEqual(
          requests.map((url) => url.pathname),
          [`/assemblies/${assemblyId}`, `/assemblies/${assemblyId}`]
        )
      })
    )

    it.effect(`after ${name}, when the id is unknown, the first error stands and carries the id`, () =>
      Effect.gen(function* () {
        const { requests, result } = yield* outcome(create, line, missing)
        assert.strictEqual(requests.length, 2)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") {
          assert.include(["TransportFailure", "UnexpectedResponse", "TimedOut"], result.failure._tag)
          assert.strictEqual((result.failure as AnyError).assemblyId, assemblyId)
        }
      })
    )
  }

  it.effect("asks nothing more after an answer that tells", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* outcome(create, Service.json(400, { error: "INVALID_TEMPLATE" }), busy)
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(result._tag, "Failure")
      if (result._tag === "Failure") assert.strictEqual((result.failure as AnyError).assemblyId, assemblyId)
    })
  )

  it.effect("an Assembly that fails at once is a Status, not an error", () =>
    Effect.gen(function* () {
      const failed = Service.json(400, { error: "INVALID_FILE_META_DATA", assembly_id: assemblyId })
      const { result } = yield* outcome(create, failed)
      assert.deepInclude(result, { _tag: "Success" })
    })
  )
})

describe("cancel", () => {
  const cancel = Assemblies.cancel(assemblyId)
  const canceled = Service.json(200, { ...status, ok: "ASSEMBLY_CANCELED" })
  const at = (address: string | null) => Service.json(200, { ...status, assembly_ssl_url: address })

  const addresses: ReadonlyArray<readonly [string | null, string]> = [
    [`https://node-3.example.com/assemblies/${assemblyId}`, `https://node-3.example.com/assemblies/${assemblyId}`],
    [null, `https://api2.example.com/assemblies/${assemblyId}`],
    [`http://node-3.example.com/assemblies/${assemblyId}`, `https://api2.example.com/assemblies/${assemblyId}`],
    [`https://user@node-3.example.com/assemblies/${assemblyId}`, `https://api2.example.com/assemblies/${assemblyId}`],
    ["https://node-3.example.com/assemblies/other", `https://api2.example.com/assemblies/${assemblyId}`]
  ]
  for (const [address, expected] of addresses) {
    it.effect(`goes to ${new URL(expected).host} when the Status names ${address}`, () =>
      Effect.gen(function* () {
        const { requests, result } = yield* outcome(cancel, at(address), canceled)
        assert.strictEqual(result._tag, "Success")
        assert.strictEqual(requests[1]?.href, expected)
      })
    )
  }
})

describe("awaitCompletion", () => {
  const wait = Assemblies.awaitCompletion(assemblyId)

  it.effect("reads until the Assembly has completed, less and less often", () =>
    Effect.gen(function* () {
      const { requests, result, seconds } = yield* outcome(wait, uploading, busy, busy, busy, completed)
      assert.strictEqual(requests.length, 5)
      assert.deepInclude(result, { _tag: "Success" })
      // 1 + 1.5 + 2.25 + 3.375 seconds, up to a tenth longer each.
      assert.isAtLeast(seconds, 8)
      assert.isAtMost(seconds, 12)
    })
  )

  const endings: ReadonlyArray<readonly [object, "AssemblyCanceled" | "AssemblyAborted" | "AssemblyFailed", string]> = [
    [{ ok: "ASSEMBLY_CANCELED" }, "AssemblyCanceled", "ASSEMBLY_CANCELED"],
    [{ ok: "REQUEST_ABORTED" }, "AssemblyAborted", "REQUEST_ABORTED"],
    [{ error: "INPUT_FILE_UNREADABLE", message: "no" }, "AssemblyFailed", "INPUT_FILE_UNREADABLE"]
  ]
  for (const [fields, tag, code] of endings) {
    it.effect(`${code} is ${tag}, never a success`, () =>
      Effect.gen(function* () {
        const ended = Service.json(200, { assembly_id: assemblyId, ...fields })
        const { result } = yield* outcome(wait, busy, ended)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: tag, code, assemblyId })
      })
    )
  }

  it.effect("waits for the rate limit of status fetching, which is no failed Assembly", () =>
    Effect.gen(function* () {
      const { requests, result, seconds } = yield* outcome(wait, busy, limited, limited, completed)
      assert.strictEqual(result._tag, "Success")
      assert.strictEqual(requests.length, 4)
      assert.isAtLeast(seconds, 41)
    })
  )

  it.effect("is TimedOut after its timeout", () =>
    Effect.gen(function* () {
      const { result, seconds } = yield* outcome(Assemblies.awaitCompletion(assemblyId, { timeout: "1 minute" }), busy)
      assert.strictEqual(result._tag, "Failure")
      if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "TimedOut", assemblyId })
      assert.isAtMost(seconds, 62)
    })
  )
})

describe("a wait that a rate limit names", () => {
  const named = (retryIn: unknown) =>
    Service.json(429, { error: "ASSEMBLY_STATUS_FETCHING_RATE_LIMIT_REACHED", info: { retryIn } })
  const followers: ReadonlyArray<Effect.Effect<unknown, AnyError, AssemblyClient>> = [
    Assemblies.awaitCompletion(assemblyId, { timeout: "1 day" }),
    Stream.runDrain(Assemblies.watch(assemblyId))
  ]

  it.effect.each([61, 999_999_999, 1e300, 1e306])("of %s seconds is told, not waited for", (seconds) =>
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

  it.effect.each([-1, "soon", null])("that is none (%s) is no wait", (retryIn) =>
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
  it.effect("tells each change once and ends with the Assembly", () =>
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

  it.effect("reads often again after each change", () =>
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
      // From 1 second on again, not half as long again as the last pause, which was 38 seconds.
      const [changed = 0, ended = 0] = seconds
      assert.isAtMost(ended - changed, 2)
    })
  )

  it.effect("fails as a reading does", () =>
    Effect.gen(function* () {
      const watch = Stream.runDrain(Assemblies.watch(assemblyId))
      const { result } = yield* outcome(watch, busy, Service.json(404, { error: "ASSEMBLY_NOT_FOUND" }))
      assert.strictEqual(result._tag, "Failure")
    })
  )
})
