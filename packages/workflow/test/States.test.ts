/** The states of jobs: how a program reads them, and how it changes them. */
import { Faults } from "@assembly-effect/emulator"
import { Durable, DurableJob } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Redacted, Schedule, type Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { select } from "./selecting.ts"
import { durableTests } from "./running.ts"
import {
  assemblies,
  count,
  failing,
  hurried,
  job,
  keysOf,
  pathsOf,
  query,
  sentOnce,
  slow,
  steps,
  storedIn,
  until,
  withRunner,
  withTime
} from "./support.ts"

durableTests("A durable job", (it) => {
  it.running("is the same job with the same key, and a conflict with other files", function* ({ file }) {
    const content = yield* file("a.bin", 1000)
    const before = yield* count()
    const first = yield* Durable.start(job("same", [content]))
    const second = yield* Durable.start(job("same", [content]))
    assert.strictEqual(second.queuedAt, first.queuedAt)
    yield* Durable.run(job("same", [content]))
    const error = yield* Effect.flip(Durable.start(job("same", [content], { params: { steps, fields: { a: 1 } } })))
    assert.strictEqual(error._tag, "JobConflict")
    const [conflict] = yield* Stream.runCollect(Durable.startAll(Stream.make(job("same", [content, content]))))
    assert(conflict?._tag === "Refused")
    assert.strictEqual(conflict.error._tag, "JobConflict")
    assert.strictEqual((yield* count()) - before, 1)
  })

  it.running("is refused with the path of each invalid field, and then nothing is stored", function* ({ file }) {
    const content = yield* file("a.bin", 10)
    const valid = job("invalid", [content])
    const secret = Redacted.make("a secret") as unknown as string
    const [first] = valid.files
    const endless: Record<string, Schema.Json> = {}
    endless["self"] = endless
    let deep: Schema.Json = {}
    for (let level = 0; level < 20_000; level++) deep = { deep }
    const marked = { ...first!, metadata: { upload_marker: "x" } }
    const unused = { steps: { a: { robot: "/upload/handle", use: "b" } } }
    const invalid: ReadonlyArray<readonly [Partial<DurableJob.Job>, ReadonlyArray<string>]> = [
      [{ key: "" }, ["key"]],
      [{ key: "a\nb" }, ["key"]],
      [{ key: "a\ud800" }, ["key"]],
      [{ key: "k".repeat(256) }, ["key"]],
      [{ files: [] }, ["files"]],
      [{ params: { fields: endless } }, [""]],
      [{ params: { fields: { deep } } }, [""]],
      [{ files: [{ ...first!, metadata: { token: secret } }] }, ["files.0.metadata.token"]],
      [
        {
          key: "",
          params: { fields: { token: secret } },
          files: [
            { ...first!, filename: "" },
            { ...first!, fieldname: "" }
          ]
        },
        ["key", "params.fields.token", "files.0.filename", "files.1.fieldname"]
      ],
      // Also those that only the service has rules for.
      [{ params: unused, files: [first!, marked] }, ["params.steps.a.use", "files.1.metadata.upload_marker"]]
    ]
    for (const [broken, paths] of invalid) {
      const error = yield* Effect.flip(Durable.start({ ...valid, ...broken }))
      assert.deepStrictEqual(pathsOf(error), paths)
      assert.notInclude(error.message, "a secret")
    }
    for (const [source, problem] of [
      [DurableJob.path("/nowhere/at/all"), "/nowhere/at/all"],
      [DurableJob.object("toString", "a"), "no object store has the name toString"]
    ] as const) {
      const error = yield* Effect.flip(Durable.start({ ...valid, files: [{ ...first!, source }] }))
      assert.strictEqual(error._tag, "SourceFailed")
      assert.include(error.message, problem)
    }
    assert.deepStrictEqual(yield* keysOf(), [])
  })

  it.running("is queued although others of its stream are refused, and each has its outcome", function* ({ file }) {
    const content = yield* file("a.bin", 10)
    const gone = { ...content, path: `${content.path}.gone` }
    const jobs = [
      job("good 1", [content]),
      job("a\nb", [content]),
      job("missing", [gone]),
      job("good 2", [content]),
      job("good 1", [content, content]),
      job("good 1", [content])
    ]
    const outcomes = yield* Stream.runCollect(Durable.startAll(Stream.fromIterable(jobs)))
    assert.deepStrictEqual(
      outcomes.map((outcome) => [outcome.job.key, outcome._tag === "Refused" ? outcome.error._tag : outcome._tag]),
      [
        ["good 1", "Started"],
        ["a\nb", "InvalidRequest"],
        ["missing", "SourceFailed"],
        ["good 2", "Started"],
        ["good 1", "JobConflict"],
        ["good 1", "Known"]
      ]
    )
    for (const key of ["good 1", "good 2"]) assert.strictEqual((yield* Durable.await(key)).ok, "ASSEMBLY_COMPLETED")
  })

  it.running("tells its state and its stored bytes", { uploads: 1 }, function* ({ gate }) {
    yield* Durable.start(gate.job("told"))
    yield* gate.begin("waits")
    // The half that the source gave arrives a moment later.
    yield* until("told", ({ stored }) => (stored ?? 0n) > 0n)
    const told = yield* Durable.status("told")
    assert.deepInclude(told, { state: "Uploading", size: BigInt(gate.size), attempt: 1 })
    assert.isAtMost(Number(told.stored), gate.size / 2)
    assert.deepInclude(yield* Durable.status("waits"), { state: "Queued", stored: 0n })
    assert.deepStrictEqual(yield* keysOf({ state: "Queued" }), ["waits"])
    yield* gate.open
    assert.deepStrictEqual(storedIn(yield* Durable.await("told")), [gate.sha256])
    yield* Durable.await("waits")
    const ended = yield* Durable.status("told")
    assert.deepInclude(ended, { state: "Completed", stored: BigInt(gate.size) })
    assert.isAtLeast(ended.endedAt ?? 0, ended.queuedAt)
    assert.deepStrictEqual(yield* keysOf(), ["told", "waits"])
    for (const unknown of ["never", "a\u001b[2Jb", "a\0b", ""]) {
      for (const ask of [Durable.status, Durable.cancel, Durable.retry, Durable.await]) {
        const error = yield* Effect.flip(
          Effect.asVoid<unknown, Durable.RetryError | Durable.AwaitError, Durable.Durable>(ask(unknown))
        )
        assert.strictEqual(error._tag, "JobUnknown")
        assert.notMatch(error.message, /\p{Cc}/u)
      }
    }
  })

  it.running("fails if its source has changed, but not its retry", { uploads: 1 }, function* ({ gate }) {
    yield* Durable.start(gate.job("first"))
    yield* gate.begin("changed")
    yield* gate.change
    yield* gate.open
    const error = yield* Effect.flip(Durable.await("changed"))
    assert(error._tag === "JobFailed")
    assert.deepInclude(error, { key: "changed", attempt: 1 })
    assert.strictEqual(error.failure.reason, "SourceFailed")
    assert.include(error.failure.message, "changed.bin has changed since the job was queued")
    // One thing to do, and not also what a plain upload would need.
    assert.match(error.message, /queued; start the next attempt with Durable\.retry$/u)
    // The same key is not started with other bytes, and answers the old failure until it is retried.
    const conflict = yield* Effect.flip(Durable.start(gate.job("changed")))
    assert.deepInclude(conflict, { _tag: "JobConflict", changed: ["changed.bin"] })
    assert.strictEqual((yield* Effect.flip(Durable.await("changed")))._tag, "JobFailed")
    assert.deepInclude(yield* Durable.retry("changed"), { attempt: 2, state: "Queued" })
    assert.deepStrictEqual(storedIn(yield* Durable.await("changed")), [gate.sha256])
    const again = yield* Effect.flip(Durable.retry("changed"))
    assert.deepInclude(again, { _tag: "NotRetryable", state: "Completed" })
  })

  it.running("is canceled while it is queued, and then creates nothing", { uploads: 1 }, function* ({ gate }) {
    const before = yield* count()
    yield* gate.begin("first")
    yield* Durable.start(gate.job("queued"))
    assert.strictEqual((yield* Durable.cancel("queued")).state, "Canceled")
    assert.strictEqual((yield* Effect.flip(Durable.await("queued")))._tag, "JobCanceled")
    yield* gate.open
    yield* Durable.await("first")
    // A later job in the same queue.
    yield* Durable.run(gate.job("last"))
    assert.strictEqual((yield* Durable.cancel("last")).state, "Completed")
    assert.strictEqual((yield* count()) - before, 2)
    assert.deepInclude(yield* Durable.retry("queued"), { attempt: 2, state: "Queued" })
    assert.deepStrictEqual(storedIn(yield* Durable.await("queued")), [gate.sha256])
  })

  it.running("is canceled while it sends: the bytes stop, then its Assembly", function* ({ gate, faults }) {
    yield* gate.begin("sends")
    // The service is slow to cancel; the bytes do not wait for it.
    yield* faults.inject(Faults.Fault.Delay({ method: "DELETE", duration: "1 second", times: 1 }))
    assert.strictEqual((yield* Durable.cancel("sends")).state, "Canceling")
    yield* gate.stopped
    assert.strictEqual((yield* Durable.status("sends")).state, "Canceling")
    assert.strictEqual((yield* Effect.flip(Durable.await("sends")))._tag, "JobCanceled")
    assert.lengthOf(yield* assemblies("canceled"), 1)
    yield* gate.open
    yield* Durable.retry("sends")
    assert.deepStrictEqual(storedIn(yield* Durable.await("sends")), [gate.sha256])
  })

  it.running("that is canceled leaves its place to the next one", { budget: { running: 1 } }, function* ({ gate }) {
    yield* gate.begin("placed")
    const sql = yield* SqlClient.SqlClient
    const places = sql`SELECT place FROM assembly_budget_places`
    assert.lengthOf(yield* places, 1)
    yield* Durable.cancel("placed")
    assert.strictEqual((yield* Effect.flip(Durable.await("placed")))._tag, "JobCanceled")
    assert.lengthOf(yield* places, 0)
  })

  it.alone("is canceled by the next process, if its own ended before", function* ({ database, gate, faults }) {
    yield* Effect.gen(function* () {
      yield* gate.begin("interrupted")
      yield* faults.inject(Faults.Fault.Refuse({ method: "DELETE", status: 503, times: 1000 }))
      yield* Durable.cancel("interrupted")
      yield* gate.stopped
    }).pipe(withRunner(database))
    yield* faults.clear
    yield* Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(Durable.await("interrupted")))._tag, "JobCanceled")
      assert.isEmpty(yield* assemblies("uploading"))
    }).pipe(withRunner(database))
  })

  it.alone("waits for an Assembly that takes a while, without a notification", function* ({ database, file }) {
    const content = yield* file("a.bin", 100)
    const status = yield* Durable.run(job("polled", [content], { params: { steps: slow(0.5) } })).pipe(
      withRunner(database, { pollInterval: "100 millis" })
    )
    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
  })

  it.alone("is tried again after failures that may pass", function* ({ database, file, faults }) {
    const content = yield* file("a.bin", 700_000)
    yield* faults.inject(Faults.Fault.Refuse({ method: "POST", path: "/assemblies/:assemblyId", status: 502 }))
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 300_000 }))
    const status = yield* Durable.run(job("patient", [content])).pipe(
      withRunner(database, { upload: { maxRetries: 0 } }),
      hurried()
    )
    sentOnce(status, content)
  })

  it.alone("is patient although somebody sets the clock while it waits", function* ({ database, file, faults }) {
    const content = yield* file("a.bin", 700_000)
    let ahead = 0
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1000, times: 3 }))
    yield* Effect.gen(function* () {
      yield* Durable.start(job("clocks", [content]))
      yield* until("clocks", ({ waiting }) => waiting !== undefined)
      // As far ahead as the client still corrects for its signatures.
      ahead = 50 * 60_000
      assert.deepStrictEqual(storedIn(yield* Durable.await("clocks")), [content.sha256])
    }).pipe(
      withRunner(database, { upload: { maxRetries: 0 }, patience: "40 minutes" }),
      withTime((now) => now + ahead)
    )
  })

  it.alone("fails after its patience, and its Assembly waits for no file", function* ({ database, file, faults }) {
    const content = yield* file("a.bin", 700_000)
    const known = yield* count()
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1000, times: 100 }))
    const error = yield* Durable.run(job("impatient", [content])).pipe(
      withRunner(database, { upload: { maxRetries: 0 }, patience: "1 milli" }),
      Effect.flip
    )
    yield* faults.clear
    assert(error._tag === "JobFailed")
    assert.strictEqual(error.failure.reason, "TransportFailure")
    assert.strictEqual((yield* count()) - known, 1)
    assert.isEmpty(yield* assemblies("uploading"))
  })

  it.alone("is removed with all that is stored of it, and kept longer if it failed", function* ({ database, file }) {
    const content = yield* file("a.bin", 100)
    yield* Effect.gen(function* () {
      yield* Durable.run(job("good", [content]))
      yield* Effect.flip(Durable.run(job("bad", [content], { params: failing })))
    }).pipe(withRunner(database))
    yield* Effect.gen(function* () {
      const schedule = Schedule.spaced("20 millis")
      assert.deepStrictEqual(yield* Effect.repeat(keysOf(), { until: ({ length }) => length === 1, schedule }), ["bad"])
      assert.strictEqual((yield* Effect.flip(Durable.await("good")))._tag, "JobUnknown")
    }).pipe(withRunner(database, { retention: { successes: "1 milli" } }))
    for (const table of ["durable_jobs", "durable_uploads"]) {
      assert.deepStrictEqual(yield* query(database, `SELECT job_key FROM ${table} WHERE job_key = 'good'`), [])
    }
  })

  it.running("is selected by its state, its key and its times", { uploads: 1 }, function* ({ file, gate }) {
    const content = yield* file("a.bin", 10)
    yield* gate.begin("0")
    yield* select(job("", [content]).files, ["Uploading"])
  })
})
