/** What belongs to one attempt of a job, and what does not follow it into the next process or the next attempt. */
import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { Durable } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Logger, Redacted } from "effect"
import { durableTests } from "./running.ts"
import { assemblies, job, query, steps, storedIn, until, withRunner } from "./support.ts"

const wrong = { steps: { fail: { robot: "/emulator/fail", error: "MINE" } } }

const slow = (seconds: number) => ({ ...steps, wait: { robot: "/emulator/wait", use: ":original", seconds } })

/** The params of a job whose Assembly takes longer than one look at it, and that expects a notification. */
const expecting = (seconds: number) => ({ steps: slow(seconds), notifyUrl: "http://127.0.0.1:9/never" })

/** Waits until a job is `Processing`, ends its Assembly, and returns the id. No look has found the end yet. */
const processed = <E, R>(key: string, end: (id: Assembly.AssemblyId) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    yield* until(key, ({ state }) => state === "Processing")
    const [own] = yield* assemblies("executing")
    const id = Assembly.AssemblyId.make(String(own?.id))
    yield* end(id)
    assert.strictEqual((yield* Durable.status(key)).state, "Processing")
    return id
  })

const hour = { pollInterval: "1 hour" } as const

durableTests("The next attempt of a durable job", (it) => {
  it.running("keeps nothing of the attempt before", function* ({ file }) {
    const content = yield* file("a.bin", 100)
    yield* Effect.flip(Durable.run(job("clean", [content], { params: wrong })))
    const before = yield* Durable.status("clean")
    assert.isDefined(before.failure)
    const next = yield* Durable.retry("clean", { params: { steps } })
    assert.deepInclude(next, { endedAt: undefined, failure: undefined, waiting: undefined })
    assert.isAtLeast(next.queuedAt, before.endedAt ?? Infinity)
    yield* Durable.await("clean")
    assert.isUndefined((yield* Durable.status("clean")).failure)
  })

  it.running("follows an attempt without a secret, canceled in the queue", { uploads: 1 }, function* ({ gate }) {
    yield* Durable.start(job("first", [], { files: [gate.file("first")] }))
    yield* gate.reached
    yield* Durable.start(job("queued", [], { files: [gate.file("queued")] }))
    yield* Durable.cancel("queued")
    assert.deepInclude(yield* Durable.retry("queued"), { attempt: 2, state: "Queued" })
    yield* gate.open
    assert.deepStrictEqual(storedIn(yield* Durable.await("queued")), [gate.sha256])
  })
})

durableTests("A durable job that another process continues", (it) => {
  it.alone("ends with a notification, also if a new secret was put before its secret", function* ({ database, gate }) {
    const [old, young] = [Redacted.make("o".repeat(32)), Redacted.make("y".repeat(32))]
    yield* Effect.gen(function* () {
      yield* Durable.start(job("rotated", [], { params: expecting(3600), files: [gate.file("rotated")] }))
      yield* gate.reached
    }).pipe(withRunner(database, { ...hour, secrets: [old] }))
    yield* gate.open
    yield* Effect.gen(function* () {
      yield* Durable.notified(yield* processed("rotated", Assemblies.cancel))
      assert.strictEqual((yield* Effect.flip(Durable.await("rotated")))._tag, "JobFailed")
    }).pipe(withRunner(database, { ...hour, secrets: [young, old] }))
  })

  it.alone("finds the upload of each of its files", function* ({ database, file, gate }) {
    const content = yield* file("small.bin", 900_000)
    const files = [gate.file("first"), ...job("", [content]).files, gate.file("last")]
    yield* Effect.gen(function* () {
      yield* Durable.start(job("three", [], { files }))
      yield* until("three", ({ stored = 0n }) => stored > BigInt(content.size) + BigInt(gate.size) / 2n)
    }).pipe(withRunner(database))
    yield* gate.open
    const status = yield* Durable.await("three").pipe(withRunner(database))
    assert.deepInclude(status, { started_tus_uploads: 3, finished_tus_uploads: 3 })
    assert.deepStrictEqual(storedIn(status), [content.sha256, gate.sha256, gate.sha256].toSorted())
  })
})

durableTests("A durable job", (it) => {
  it.running("is the same job although its file is gone, and its params have another order", function* ({ file }) {
    const fs = yield* FileSystem.FileSystem
    const content = yield* file("a.bin", 100)
    yield* Durable.run(job("gone", [content], { params: { steps, fields: { a: 1, b: 2 } } }))
    yield* fs.remove(content.path)
    const again = yield* Durable.start(job("gone", [content], { params: { fields: { b: 2, a: 1 }, steps } }))
    assert.strictEqual(again.state, "Completed")
  })

  it.running("is Completed if its Assembly was faster than its cancellation", hour, function* ({ file }) {
    const content = yield* file("a.bin", 100)
    yield* Durable.start(job("faster", [content], { params: expecting(4) }))
    const id = yield* processed("faster", (own) => Assemblies.awaitCompletion(own, { interval: "50 millis" }))
    assert.strictEqual((yield* Durable.cancel("faster")).state, "Canceling")
    assert.strictEqual((yield* Durable.await("faster")).assembly_id, id)
    assert.strictEqual((yield* Durable.status("faster")).state, "Completed")
  })

  it.alone("waits no more when it sends again, and its runner has logged it", function* ({ database, faults, gate }) {
    const said: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void said.push(`${logLevel}: ${String(message)}`))
    yield* faults.inject(
      Faults.Fault.Refuse({ method: "POST", path: "/assemblies/:assemblyId", status: 402, times: 1 })
    )
    yield* Effect.gen(function* () {
      yield* Durable.start(job("again", [], { files: [gate.file("again")] }))
      yield* until("again", ({ waiting }) => waiting !== undefined)
      yield* gate.reached
      assert.deepInclude(yield* Durable.status("again"), { state: "Uploading", waiting: undefined })
    }).pipe(withRunner(database), Effect.provide(Layer.merge(gate.layer, Logger.layer([logger]))))
    assert.include(said.join("\n"), "Warn: A durable job waits: ServiceFailure")
  })

  it.running("waits no more for a service that answers", { pollInterval: "100 millis" }, function* ({ file, faults }) {
    const content = yield* file("a.bin", 100)
    yield* Durable.start(job("back", [content], { params: { steps: slow(600) } }))
    yield* until("back", ({ state }) => state === "Processing")
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", status: 403, times: Infinity }))
    yield* until("back", ({ waiting }) => waiting !== undefined)
    yield* faults.clear
    assert.strictEqual((yield* until("back", ({ waiting }) => waiting === undefined)).state, "Processing")
  })

  it.alone("adds up the patience of its cancellation, over several runners", function* ({ database, gate, faults }) {
    const waited = Effect.map(
      query(database, "UPDATE durable_jobs SET due_at = 0, waiting = NULL RETURNING waited"),
      ([row]) => Number(row?.["waited"])
    )
    const refused = <E, R>(before: Effect.Effect<unknown, E, R>) =>
      Effect.gen(function* () {
        yield* before
        yield* until("patient", ({ waiting }) => waiting !== undefined)
      }).pipe(withRunner(database), Effect.andThen(waited))
    const begin = Effect.gen(function* () {
      yield* Durable.start(job("patient", [], { files: [gate.file("patient")] }))
      yield* gate.reached
      yield* faults.inject(Faults.Fault.Refuse({ method: "DELETE", status: 403, times: Infinity }))
      yield* Durable.cancel("patient")
    })
    // The pause after the first failure is 1 second, and the tries after it count too.
    assert.strictEqual(yield* refused(begin), 1000)
    assert.isAbove(yield* refused(Effect.void), 2000)
    yield* faults.clear
  })

  it.alone("has its whole patience for its cancellation after a long process", function* ({ database, file, faults }) {
    const content = yield* file("a.bin", 100)
    yield* Effect.gen(function* () {
      yield* Durable.start(job("long", [content], { params: { steps: slow(600) } }))
      yield* until("long", ({ state }) => state === "Processing")
    }).pipe(withRunner(database))
    yield* query(database, "UPDATE durable_jobs SET waited = 7200000")
    yield* faults.inject(Faults.Fault.Refuse({ method: "DELETE", status: 403, times: Infinity }))
    yield* Effect.gen(function* () {
      yield* Durable.cancel("long")
      const { state } = yield* until("long", ({ failure, waiting }) => (waiting ?? failure) !== undefined)
      assert.strictEqual(state, "Canceling")
      yield* faults.clear
      assert.strictEqual((yield* Effect.flip(Durable.await("long")))._tag, "JobCanceled")
    }).pipe(withRunner(database))
  })

  it.alone("continues if the service knows its Assembly only a moment later", function* ({ database, faults, gate }) {
    yield* Effect.gen(function* () {
      yield* Durable.start(job("late", [], { files: [gate.file("late")] }))
      yield* gate.reached
    }).pipe(withRunner(database))
    yield* gate.open
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", path: "/assemblies/:assemblyId", status: 404, times: 1 }))
    const status = yield* Durable.await("late").pipe(withRunner(database))
    assert.deepInclude(status, { started_tus_uploads: 1, finished_tus_uploads: 1 })
    assert.deepStrictEqual(storedIn(status), [gate.sha256])
  })
})

durableTests("An embedded runner", (it) => {
  it.alone("ignores a line break after the secret, and half a secret file", function* ({ database, file, fs }) {
    const content = yield* file("a.bin", 100)
    yield* fs.writeFileString(`${database}.secret.new`, "half")
    yield* Durable.run(job("one", [content])).pipe(withRunner(database))
    const secret = yield* fs.readFileString(`${database}.secret`)
    yield* fs.writeFileString(`${database}.secret`, `${secret}\n`)
    assert.strictEqual((yield* Durable.await("one").pipe(withRunner(database))).ok, "ASSEMBLY_COMPLETED")
  })
})
