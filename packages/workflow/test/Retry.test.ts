/** The next attempt of a key: other params and files, and one Assembly that runs. */
import { Faults } from "@assembly-effect/emulator"
import { Durable, DurableJob } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Result } from "effect"
import { durableTests } from "./running.ts"
import { assemblies, hurried, job, steps, storedIn, withRunner } from "./support.ts"

/** How many Assemblies exist, of all types or of one. */
const count = (...type: Parameters<typeof assemblies>) => Effect.map(assemblies(...type), ({ length }) => length)

const wrong = { steps: { fail: { robot: "/emulator/fail", error: "MINE" } } }

durableTests("The next attempt of a durable job", (it) => {
  it.running("has other params and files, with the same key", function* ({ file }) {
    const [first, second] = [yield* file("a.bin", 100), yield* file("b.bin", 200)]
    const before = yield* count()
    const failed = yield* Effect.flip(Durable.run(job("again", [first], { params: wrong })))
    assert.strictEqual(failed._tag, "JobFailed")
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
    yield* Effect.flip(Durable.run(job("checked", [content], { params: wrong })))
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
    yield* Effect.flip(Durable.run(job("both", [content], { params: wrong })))
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
