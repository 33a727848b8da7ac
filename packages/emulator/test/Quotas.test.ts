/** Tests the quotas of the public service, which an emulator rehearses on request. Client and emulator share a clock. */
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Secure from "./secure.ts"
import { call } from "./signedCalls.ts"
import { createUpload, layer } from "./support.ts"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const create = (steps: object = {}) => call("POST", "/assemblies", { steps })
const other = { key: "other", secret: Redacted.make("secret") }
const running = { wait: { robot: "/emulator/wait", seconds: 1_000_000 } }
const refusal = (retryIn: number) => ({
  error: "RATE_LIMIT_REACHED",
  message: "Request limit reached",
  info: { retryIn }
})

/** The statuses of requests that are sent one after the other. */
const statuses = (requests: number, request: ReturnType<typeof call>) =>
  Effect.map(Effect.replicateEffect(request, requests), (answers) => answers.map(({ status }) => status))

describe("An account", () => {
  it.effect(
    "that has created 250 Assemblies is refused until the first is old",
    layer({ quotas: "service" }),
    function* () {
      yield* create()
      yield* TestClock.adjust("20 seconds")
      const answers = yield* Effect.forEach(Array(260), () => create(), { concurrency: 16 })
      const refused = answers.filter(({ status }) => status !== 200)
      assert.lengthOf(refused, 11)
      for (const { said, status } of refused) {
        assert.strictEqual(status, 413)
        assert.deepStrictEqual(said, refusal(40))
      }
      yield* TestClock.adjust("39 seconds")
      assert.deepStrictEqual((yield* create()).said, refusal(1))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* statuses(2, create()), [200, 413])
    }
  )

  it.effect("that runs its Assemblies is refused until one has ended", layer({ quotas: { running: 2 } }), function* () {
    yield* Assemblies.create({ steps: running, numExpectedUploadFiles: 1 })
    const ended = yield* create()
    const first = yield* create(running)
    assert.strictEqual((yield* create(running)).status, 200)
    const replay = call("POST", `/assemblies/${ended.said["assembly_id"]}/replay`)
    for (const answer of [yield* create(), yield* replay]) {
      assert.strictEqual(answer.status, 413)
      assert.deepStrictEqual(answer.said, refusal(1))
    }
    yield* Assemblies.cancel(Assembly.AssemblyId.make(String(first.said["assembly_id"])))
    assert.strictEqual((yield* replay).status, 200)
  })

  it.effect(
    "that another Workspace fills up is not refused",
    layer({
      quotas: { created: 1 },
      workspaces: [
        { slug: "first", keys: [] },
        { slug: "other", keys: [other] }
      ]
    }),
    function* () {
      assert.deepStrictEqual(yield* statuses(2, call("POST", "/assemblies", {}, other)), [200, 413])
      assert.deepStrictEqual(yield* statuses(2, create()), [200, 413])
    }
  )

  it.effect("refused to replace an Assembly keeps it", layer({ quotas: { created: 1 } }), function* () {
    const id = String((yield* create(running)).said["assembly_id"])
    assert.strictEqual((yield* call("PUT", `/assemblies/${id}`)).status, 413)
    assert.strictEqual((yield* Assemblies.get(Assembly.AssemblyId.make(id))).ok, "ASSEMBLY_EXECUTING")
  })
})

describe("An Assembly", () => {
  it.effect("expires after 8 hours without uploads, or of its Steps", layer({ quotas: "service" }), function* () {
    const uploading = Assembly.AssemblyId.make((yield* Assemblies.create({ numExpectedUploadFiles: 1 })).assembly_id)
    yield* TestClock.adjust("1 hour")
    const executing = Assembly.AssemblyId.make((yield* Assemblies.create({ steps: running })).assembly_id)
    yield* TestClock.adjust("6 hours")
    yield* TestClock.adjust("59 minutes")
    assert.strictEqual((yield* Assemblies.get(uploading)).ok, "ASSEMBLY_UPLOADING")
    const end = (id: Assembly.AssemblyId) =>
      Effect.repeat(Assemblies.get(id), { until: ({ error }) => error === "ASSEMBLY_EXPIRED" })
    yield* TestClock.adjust("1 minute")
    yield* end(uploading)
    assert.strictEqual((yield* Assemblies.get(executing)).ok, "ASSEMBLY_EXECUTING")
    yield* TestClock.adjust("1 hour")
    yield* end(executing)
  })

  it.effect("whose file came late does not expire before 8 hours", layer({ quotas: "service" }), function* () {
    const status = yield* Assemblies.create({ steps: running, numExpectedUploadFiles: 1 })
    yield* TestClock.adjust("7 hours")
    yield* createUpload(status, { "upload-length": "0" })
    yield* TestClock.adjust("7 hours")
    yield* TestClock.adjust("59 minutes")
    const read = Assemblies.get(status.assembly_id)
    assert.strictEqual((yield* read).ok, "ASSEMBLY_EXECUTING")
    yield* TestClock.adjust("1 minute")
    yield* Effect.repeat(read, { until: ({ error }) => error === "ASSEMBLY_EXPIRED" })
  })
})

const hammered = { error: "429 Too Many Requests", message: "HAProxy thinks you have sent too many requests." }
const get = call("GET", "/auth_keys")
const missing = call("GET", `/assemblies/${"0".repeat(32)}`)

describe("A client", () => {
  it.effect.each([
    { what: "requests", quotas: { requests: 2 }, request: get, answers: [200, 200, 429, 429] },
    { what: "errors", quotas: { errors: 2 }, request: missing, answers: [404, 404, 404, 429] }
  ])("with more $what than it may is refused until 10 seconds have passed", ({ answers, quotas, request }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statuses(3, request), answers.slice(0, 3))
      yield* TestClock.adjust("9 seconds")
      const answer = yield* request
      assert.strictEqual(answer.status, answers[3])
      assert.deepStrictEqual(answer.said, hammered)
      // This refusal counts too.
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* request).status, answers[0])
    }).pipe(Effect.provide(layer({ quotas })))
  )

  it.effect("that goes on while it is refused stays refused", layer({ quotas: { errors: 2 } }), function* () {
    yield* statuses(2, missing)
    for (let second = 0; second < 15; second++) {
      yield* TestClock.adjust("1 second")
      const { status } = yield* missing
      if (second > 0) assert.strictEqual(status, 429)
    }
  })

  it.effect.each([{ quotas: { connections: 1 } }, { quotas: { opened: 1 } }])(
    "with more connections than it may is refused: $quotas",
    ({ quotas }) =>
      Effect.gen(function* () {
        const answers = yield* Effect.all([get, get, get, get], { concurrency: 4 })
        assert.include(
          answers.map(({ status }) => status),
          429
        )
      }).pipe(Effect.provide(layer({ quotas })))
  )

  it.live(
    "over HTTP/2 has one connection for many requests, and another one is refused",
    layer({ tls: "self-signed", quotas: { connections: 1 } }),
    function* () {
      const one = yield* Secure.session
      for (let count = 0; count < 3; count++) {
        assert.strictEqual((yield* Secure.ended(one.request({ ":path": "/nothing" }))).status, 404)
      }
      const two = yield* Secure.session
      assert.strictEqual((yield* Secure.ended(two.request({ ":path": "/nothing" }))).status, 429)
    }
  )
})

it.effect("without the option, an emulator has no quotas", layer(), function* () {
  assert.deepStrictEqual(new Set(yield* statuses(110, missing)), new Set([404]))
})
