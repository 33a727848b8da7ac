/** What belongs to one attempt of a job, and what does not follow it into the next process or the next attempt. */
import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { Durable, DurableJob } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Logger, Result, Schedule } from "effect"
import { durableTests } from "./running.ts"
import {
  assemblies,
  count,
  failing,
  hurried,
  job,
  old,
  query,
  sentOnce,
  slow,
  steps,
  storedIn,
  until,
  withRunner,
  young
} from "./support.ts"

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
  it.running("has other params and files, with the same key", function* ({ file }) {
    const [first, second] = [yield* file("a.bin", 100), yield* file("b.bin", 200)]
    const before = yield* count()
    const failed = yield* Effect.flip(Durable.run(job("again", [first], { params: failing })))
    assert(failed._tag === "JobFailed")
    assert.strictEqual(failed.failure.reason, "AssemblyFailed")
    assert.include(failed.failure.message, "MINE")
    const right = job("again", [second])
    assert.strictEqual((yield* Effect.flip(Durable.start(right)))._tag, "JobConflict")
    const { files, params } = right
    const next = yield* Durable.retry("again", { params, files })
    assert.deepInclude(next, { attempt: 2, size: 200n })
    assert.deepStrictEqual(storedIn(yield* Durable.await("again")), [second.sha256])
    // Now the key is this job.
    assert.deepInclude(yield* Durable.start(right), { attempt: 2, state: "Completed" })
    assert.strictEqual((yield* count()) - before, 2)
  })

  it.running("is checked like the first one, and then the job stays as it is", function* ({ file }) {
    const content = yield* file("a.bin", 100)
    yield* Effect.flip(Durable.run(job("checked", [content], { params: failing })))
    const error = yield* Effect.flip(Durable.retry("checked", { files: [] }))
    assert(error._tag === "InvalidRequest")
    assert.include(error.message, "Durable.retry: files")
    const [missing] = job("checked", [{ ...content, path: `${content.path}.none` }]).files
    assert.strictEqual((yield* Effect.flip(Durable.retry("checked", { files: [missing!] })))._tag, "SourceFailed")
    assert.deepInclude(yield* Durable.status("checked"), { attempt: 1, state: "Failed" })
  })

  it.alone(
    "begins when the Assembly of the attempt before has surely ended",
    function* ({ database, file, faults }) {
      const content = yield* file("a.bin", 700_000)
      const canceled = yield* count("canceled")
      yield* Effect.gen(function* () {
        yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1000, times: 100 }))
        yield* faults.inject(Faults.Fault.Refuse({ method: "DELETE", status: 403, times: Infinity }))
        assert.strictEqual((yield* Effect.flip(Durable.run(job("kept", [content]))))._tag, "JobFailed")
        assert.strictEqual(yield* count("uploading"), 1)
        const error = yield* Effect.flip(Durable.retry("kept"))
        assert(error._tag === "AssemblyMayRun", error.message)
        assert.deepInclude(error, { key: "kept", attempt: 1 })
        assert.deepInclude(yield* Durable.status("kept"), { attempt: 1, state: "Failed" })
        yield* faults.clear
        yield* Durable.retry("kept")
        assert.deepStrictEqual(storedIn(yield* Durable.await("kept")), [content.sha256])
        assert.strictEqual(yield* count("uploading"), 0)
        assert.strictEqual((yield* count("canceled")) - canceled, 1)
      }).pipe(withRunner(database, { upload: { maxRetries: 0 }, patience: "1 milli" }), hurried())
    },
    { timeout: 60_000 }
  )

  it.running("is one of two that two callers want", function* ({ file }) {
    const content = yield* file("a.bin", 100)
    yield* Effect.flip(Durable.run(job("both", [content], { params: failing })))
    const before = yield* count()
    const results = yield* Effect.forEach(
      [{ a: 1 }, { a: 2 }],
      (fields) => Effect.result(Durable.retry("both", { params: { steps, fields } })),
      { concurrency: 2 }
    )
    const [error] = results.flatMap((result) => (Result.isFailure(result) ? [result.failure._tag] : []))
    assert.include(["JobConflict", "NotRetryable"], error)
    assert.lengthOf(results.filter(Result.isSuccess), 1)
    yield* Durable.await("both")
    assert.strictEqual((yield* count()) - before, 1)
  })

  it.running("keeps nothing of the attempt before", function* ({ file }) {
    const content = yield* file("a.bin", 100)
    yield* Effect.flip(Durable.run(job("clean", [content], { params: failing })))
    const before = yield* Durable.status("clean")
    assert.isDefined(before.failure)
    const next = yield* Durable.retry("clean", { params: { steps } })
    assert.deepInclude(next, { endedAt: undefined, failure: undefined, waiting: undefined })
    assert.isAtLeast(next.queuedAt, before.endedAt ?? Infinity)
    yield* Durable.await("clean")
    assert.isUndefined((yield* Durable.status("clean")).failure)
  })
})

durableTests("A durable job that another process continues", (it) => {
  it.alone("ends with a notification, also if a new secret was put before its secret", function* ({ database, gate }) {
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
  it.running("is Completed if its Assembly was faster than its cancellation", hour, function* ({ file }) {
    const content = yield* file("a.bin", 100)
    yield* Durable.start(job("faster", [content], { params: expecting(8) }))
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
      yield* Durable.start(gate.job("again"))
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
    const silent = yield* until("back", ({ waiting }) => waiting !== undefined)
    // All bytes were stored before.
    assert.deepInclude(silent, { state: "Processing", stored: 100n })
    assert.strictEqual(silent.waiting?.reason, "ServiceFailure")
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
      yield* gate.begin("patient")
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

durableTests("A path of a job", (it) => {
  it.running("is absolute when it is stored: the same file in every process", function* ({ file, path }) {
    const content = yield* file("a.bin", 100)
    const up = "../".repeat(process.cwd().split("/").length - 1)
    const relative = DurableJob.path(`./${up}${path.slice(1)}/a.bin`)
    const files = [{ source: relative, filename: "0.bin" }]
    yield* Durable.run(job("relative", [], { files }))
    // The absolute path is the same job.
    assert.deepInclude(yield* Durable.start(job("relative", [content])), { state: "Completed" })
    assert.deepInclude(yield* Durable.start(job("relative", [], { files })), { state: "Completed" })
  })
})

/** The ids of all Assemblies. */
const ids = Effect.map(assemblies(), (all) => all.map(({ id }) => Assembly.AssemblyId.make(String(id))))

/** Waits for an Assembly that is not in `known` and whose Status `fits`. */
const created = (known: ReadonlyArray<string>, fits: (status: Assembly.Status) => boolean) =>
  Effect.gen(function* () {
    for (const id of yield* ids) {
      if (known.includes(id)) continue
      const status = yield* Assemblies.get(id)
      if (fits(status)) return status
    }
    return yield* Effect.fail("not yet")
  }).pipe(Effect.retry(Schedule.spaced("20 millis")))

const lost: ReadonlyArray<readonly [string, Faults.Fault, (status: Assembly.Status) => boolean]> = [
  [
    "an Assembly",
    Faults.Fault.FinishSlowly({ method: "POST", path: "/assemblies/:assemblyId", duration: "1 hour" }),
    () => true
  ],
  [
    "an upload",
    Faults.Fault.FinishSlowly({ method: "POST", path: "/resumable/files/", duration: "1 hour" }),
    (status) => status["started_tus_uploads"] === 1
  ]
]

durableTests("A runner that ends", (it) => {
  for (const [what, fault, fits] of lost) {
    for (const size of [1000, 700_000]) {
      it.alone(`while it creates ${what} of ${size} bytes has a successor`, function* ({ database, file, faults }) {
        const content = yield* file("a.bin", size)
        const known = yield* ids
        yield* Effect.gen(function* () {
          yield* faults.inject(fault)
          yield* Durable.start(job("lost", [content]))
          yield* created(known, fits)
        }).pipe(withRunner(database))
        yield* faults.clear
        sentOnce(yield* Durable.await("lost").pipe(withRunner(database), hurried()), content)
        assert.strictEqual((yield* ids).length - known.length, 1)
      })
    }
  }

  it.alone("after all bytes are stored has a successor that sends nothing", function* ({ database, file }) {
    const content = yield* file("a.bin", 1000)
    const before = yield* Durable.run(job("again", [content])).pipe(withRunner(database))
    yield* query(database, "UPDATE durable_jobs SET state = 'Processing', runner = 'dead', due_at = 1, ended_at = NULL")
    const after = yield* Durable.await("again").pipe(withRunner(database))
    assert.strictEqual(after.assembly_id, before.assembly_id)
    sentOnce(after, content)
  })
})
