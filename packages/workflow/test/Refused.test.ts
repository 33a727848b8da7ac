/** What is refused that is not about the job: the job waits, says why, and continues when it is mended. */
import { ApiError } from "@assembly-effect/api"
import { Emulator, Faults } from "@assembly-effect/emulator"
import { FilesFailed } from "@assembly-effect/tus/AssemblyUpload"
import { TusError, UploadTarget } from "@assembly-effect/tus"
import { AssemblyNode } from "@assembly-effect/node"
import { Durable, DurableJob } from "@assembly-effect/workflow"
import { assert, describe, test } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted } from "effect"
import type * as Journal from "../src/internal/journal.ts"
import * as Verdict from "../src/internal/verdict.ts"
import { durableTests } from "./running.ts"
import { hurried, job, keysOf, old, sentOnce, storedIn, until, withRunner, young } from "./support.ts"

/** Reads a job until it says why it waits. */
const untilWaiting = (key: string) => until(key, ({ waiting }) => waiting !== undefined)

/** The clients of a program with the wrong Auth Secret. */
const wrongSecret = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
    AssemblyNode.layer({ baseUrl, key: credentials.key, secret: Redacted.make("a secret of yesterday") })
  )
)

const forever = { times: Infinity } as const

const uploadPaths = { POST: "/resumable/files/", PATCH: "/resumable/files/:uploadId" } as const

durableTests("A durable job", (it) => {
  it.alone("waits while the Auth Secret is wrong, and other jobs stay in the queue", function* ({ database, file }) {
    const contents = [yield* file("a.bin", 1000), yield* file("b.bin", 1000), yield* file("c.bin", 1000)]
    yield* Effect.gen(function* () {
      for (const [index, content] of contents.entries()) yield* Durable.start(job(`${index}`, [content]))
      const { state, waiting } = yield* untilWaiting("0")
      assert.strictEqual(state, "Uploading")
      assert.strictEqual(waiting?.reason, "AuthenticationFailed")
      assert.include(waiting?.message, "INVALID_SIGNATURE")
      assert.isAbove(waiting?.at ?? 0, 0)
      assert.deepStrictEqual(yield* keysOf({ state: "Queued" }), ["1", "2"])
      assert.deepStrictEqual(yield* keysOf({ state: "Failed" }), [])
      // Who waits can be canceled.
      yield* Durable.cancel("0")
      assert.strictEqual((yield* Effect.flip(Durable.await("0")))._tag, "JobCanceled")
      assert.strictEqual((yield* untilWaiting("1")).waiting?.reason, "AuthenticationFailed")
    }).pipe(withRunner(database, { uploads: 1, patience: "1 milli" }), Effect.provide(wrongSecret))
    yield* Effect.gen(function* () {
      yield* Durable.retry("0")
      for (const [index, { sha256 }] of contents.entries()) {
        assert.deepStrictEqual(storedIn(yield* Durable.await(`${index}`)), [sha256])
      }
      assert.isUndefined((yield* Durable.status("1")).waiting)
    }).pipe(withRunner(database))
  })
  for (const [method, size] of [
    ["POST", 1000],
    ["PATCH", 700_000]
  ] as const) {
    it.alone(`waits while a proxy refuses each ${method} of an upload`, function* ({ database, file, faults }) {
      const content = yield* file("a.bin", size)
      yield* faults.inject(Faults.Fault.Refuse({ method, path: uploadPaths[method], status: 407, times: 1 }))
      yield* Effect.gen(function* () {
        yield* Durable.start(job(method, [content]))
        assert.strictEqual((yield* untilWaiting(method)).waiting?.reason, "UploadRefused")
        assert.deepStrictEqual(storedIn(yield* Durable.await(method)), [content.sha256])
      }).pipe(withRunner(database, { patience: "1 milli" }))
    })
  }

  it.alone("waits for a runner that knows the secret it began with", function* ({ database, gate }) {
    yield* gate.begin("begun").pipe(withRunner(database, { secrets: [old] }))
    yield* Effect.asVoid(Durable.Durable).pipe(withRunner(database, { secrets: [young, old] }))
    yield* gate.open
    yield* Effect.gen(function* () {
      const { state, waiting } = yield* untilWaiting("begun")
      assert.strictEqual(state, "Uploading")
      assert.strictEqual(waiting?.reason, "InvalidSecret")
      // It does not keep the place from jobs of the new secret.
      yield* Durable.run(gate.job("new"))
      assert.strictEqual((yield* Durable.status("begun")).state, "Uploading")
    }).pipe(withRunner(database, { secrets: [young], uploads: 1, patience: "1 milli" }))
    sentOnce(yield* Durable.await("begun").pipe(withRunner(database, { secrets: [young, old] })), gate)
  })

  it.running("does not say how much is stored while the service is silent", function* ({ faults, gate }) {
    yield* gate.begin("sends")
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", status: 403, ...forever }))
    assert.deepInclude(yield* Durable.status("sends"), { state: "Uploading", stored: undefined })
    yield* faults.clear
    yield* gate.open
    yield* Durable.await("sends")
  })

  it.alone("has its whole patience after a refusal that is not about it", function* ({ database, file, faults }) {
    const content = yield* file("a.bin", 100)
    const once = { method: "POST", path: "/assemblies/:assemblyId", times: 1 } as const
    for (const status of [403, 407, 403]) yield* faults.inject(Faults.Fault.Refuse({ ...once, status }))
    yield* Effect.gen(function* () {
      yield* Durable.start(job("paused", [content]))
      assert.deepStrictEqual(storedIn(yield* Durable.await("paused")), [content.sha256])
    }).pipe(withRunner(database, { patience: "1 second" }), hurried())
  })

  it.alone("says why its cancellation waits, and ends after its patience", function* ({ database, gate, faults }) {
    const gone = Effect.gen(function* () {
      yield* faults.inject(Faults.Fault.Refuse({ method: "GET", status: 403, ...forever }))
      yield* faults.inject(Faults.Fault.Refuse({ method: "DELETE", status: 403, ...forever }))
    })
    yield* Effect.gen(function* () {
      yield* gate.begin("patient")
      yield* gone
      yield* Durable.cancel("patient")
      const { state, waiting } = yield* untilWaiting("patient")
      assert.strictEqual(state, "Canceling")
      assert.strictEqual(waiting?.reason, "ServiceFailure")
    }).pipe(withRunner(database))
    yield* Effect.gen(function* () {
      const error = yield* Effect.flip(Durable.await("patient"))
      assert(error._tag === "JobFailed")
      assert.include(error.message, "could not be canceled, and may still run")
      yield* faults.clear
      yield* gate.open
      // The next attempt first ends the Assembly.
      yield* Durable.retry("patient")
      assert.deepStrictEqual(storedIn(yield* Durable.await("patient")), [gate.sha256])
    }).pipe(withRunner(database, { patience: "1 milli" }), hurried())
  })
})

describe("After an error of a transfer, a job", () => {
  const subject = { operation: "Assemblies.create", description: "" }
  const service = (status: number) => new ApiError.ServiceFailure({ ...subject, status, code: "CODE" })
  const proxy = (status: number) => new ApiError.UnexpectedResponse({ ...subject, status, excerpt: "<html>" })
  const upload = (status: number) =>
    new TusError.UploadRefused({ request: "append", host: "upload.example.com", status, description: "" })
  const connection = (permanent: boolean) => () => new ApiError.TransportFailure({ ...subject, permanent })
  const host = () => new UploadTarget.InvalidTarget({ field: "tus_url", rule: "Expected a trusted host" })
  const missing = () => new ApiError.ServiceFailure({ ...service(404), operation: "Assemblies.get" })

  const verdict = (error: Verdict.TransferError) => {
    if (Verdict.isRefusal(error)) return "waits for a correction, without a limit"
    return Verdict.mayPass(error) ? "is tried again within its patience" : "ends"
  }

  const ofRequest = [400, 411, 413, 414, 415, 417, 422, 431]
  for (const [what, make, statuses, expected] of [
    ["the service", service, [401, 402, 407], "waits for a correction, without a limit"],
    ["the service", service, [403, 429, 500, 502, 503, 504], "is tried again within its patience"],
    ["the service", service, [404, ...ofRequest], "ends"],
    ["a proxy", proxy, [401, 402, 407], "waits for a correction, without a limit"],
    ["a proxy", proxy, [200, 302, 403, 404, 429, 500, 502, 503, 504], "is tried again within its patience"],
    ["a proxy", proxy, ofRequest, "ends"],
    ["an upload", upload, [401, 402, 407], "waits for a correction, without a limit"],
    ["an upload", upload, [400, 403, 412, 451, 501], "ends"],
    ["the address", connection(true), [0], "waits for a correction, without a limit"],
    ["the connection", connection(false), [0], "is tried again within its patience"],
    ["another host for uploads", host, [0], "is tried again within its patience"]
  ] as const) {
    for (const status of statuses) {
      test(`${expected}: ${status} of ${what}`, () => {
        assert.strictEqual(verdict(make(status)), expected)
        assert.strictEqual(Verdict.isAboutService(make(status)), expected !== "ends")
      })
    }
  }

  test("waits for a correction if its account refuses one of its files, also if the connection of another broke", () => {
    const files = [connection(false)(), upload(402)].map(
      (error) => ({ filename: "a", outcome: "Failed", error }) as const
    )
    const failed = new FilesFailed({ assemblyId: "", files, assembly: "kept" })
    const sources = files.map(({ filename }) => ({ filename, source: DurableJob.path(filename) }))
    const journal = { problem: () => undefined } as Journal.Journal
    assert.strictEqual(verdict(Verdict.decisive(failed, journal, sources)), "waits for a correction, without a limit")
  })

  test("is tried again if its Assembly is missing, but not while it is processed", () => {
    assert.strictEqual(verdict(missing()), "is tried again within its patience")
    assert.isFalse(Verdict.isAboutService(missing()))
  })
})
