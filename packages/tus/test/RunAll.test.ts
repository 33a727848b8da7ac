/**
 * Many jobs as one stream: each has its outcome, never more run at once than allowed, and a later run goes on.
 */
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Cause, Effect, Fiber, Stream } from "effect"
import { HttpClient } from "effect/http"
import { assert, layer, AssemblyUpload, Emulated, Tests } from "./utils/index.ts"

const handle = { ":original": { robot: "/upload/handle" } }
const waiting = { ...handle, wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 } }
const failing = { ...handle, fail: { robot: "/emulator/fail", use: ":original", error: "INVALID_FILE" } }

/** A job with `count` small files. Jobs of another `batch` are other jobs. */
const jobOf = (batch: string, row: number, steps: object = handle, count = 1) => ({
  data: { row },
  params: { steps, fields: { batch, row } } as Assembly.CreateParams,
  files: Array.from({ length: count }, (_, file) => ({
    source: UploadSource.fromBytes(new TextEncoder().encode(`${batch} ${row} ${file}`)),
    filename: `${file}.txt`
  })),
  wait: { interval: "10 millis" } as const
})

const jobsOf = (batch: string, count: number) => Array.from({ length: count }, (_, row) => jobOf(batch, row))

/** Why an effect failed, without the number of the fiber that interrupted it. */
const causeOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(Effect.sandbox(effect)), ({ reasons }) =>
    reasons.map((reason) => (reason._tag === "Interrupt" ? reason._tag : reason))
  )

/** A client that counts the requests of uploads that are open at the same time. */
const counted = Effect.gen(function* () {
  const open = { now: 0, most: 0 }
  const wrapped = HttpClient.transform(yield* HttpClient.HttpClient, (sent) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void (open.most = Math.max(open.most, ++open.now))),
      () => sent,
      () => Effect.sync(() => void open.now--)
    )
  )
  return { open, wrapped }
})

layer(Emulated.live)("AssemblyUpload.runAll", ({ effect }) => {
  effect("ordered: true emits the outcomes in the order of the jobs, as a stage of a pipe", function* () {
    const jobs = Array.from({ length: 12 }, (_, row) => jobOf("ordered", row, row % 4 === 0 ? failing : handle))
    const outcomes = yield* Stream.fromIterable(jobs).pipe(
      AssemblyUpload.runAll({ assemblies: 4, ordered: true }),
      Stream.runCollect,
      Effect.provide(AssemblyUpload.layer)
    )
    const ends = outcomes.map(({ _tag, job }) => [job.data.row, _tag])
    const expected = jobs.map((_, row) => [row, row % 4 === 0 ? "Failed" : "Completed"])
    assert.deepStrictEqual(ends, expected)
  })

  effect("a job that fails is an outcome with its error, and stops no other", function* () {
    const jobs = [
      jobOf("mixed", 0),
      jobOf("mixed", 1, failing),
      { ...jobOf("mixed", 2), files: [] },
      { ...jobOf("mixed", 3), params: { templateId: "unknown" } },
      jobOf("mixed", 4)
    ]
    const outcomes = yield* Stream.runCollect(AssemblyUpload.batch(Stream.fromIterable(jobs)))
    const seen = outcomes
      .toSorted((a, b) => a.job.data.row - b.job.data.row)
      .map((outcome) => (outcome._tag === "Failed" ? outcome.error._tag : outcome._tag))
    assert.deepStrictEqual(seen, ["Completed", "AssemblyFailed", "InvalidRequest", "ServiceFailure", "Completed"])
  })

  effect.each([
    ["dies", Stream.die(new Error("a bug")), (cause: Cause.Cause<never>) => Cause.hasDies(cause)],
    ["interrupts itself", Stream.fromEffect(Effect.interrupt), Cause.hasInterruptsOnly]
  ] as const)("a job that %s is an outcome with its cause, and stops no other", function* ([how, end, is]) {
    const batch = `a job ${how}`
    const source = UploadSource.fromStream(end, { size: 10n })
    const broken = { ...jobOf(batch, 0), files: [{ source, filename: "broken.txt" }] }
    const jobs = Stream.make(broken, jobOf(batch, 1), jobOf(batch, 2))
    const outcomes = yield* Stream.runCollect(AssemblyUpload.batch(jobs, { assemblies: 2 }))
    const [first, ...others] = outcomes.toSorted((a, b) => a.job.data.row - b.job.data.row)
    assert(first?._tag === "Died", first?._tag)
    assert.isTrue(is(first.cause))
    assert.deepStrictEqual(Tests.pluck(others, "_tag"), ["Completed", "Completed"])
    assert.deepStrictEqual((yield* Emulated.assembliesOf(batch)).map(({ ok }) => ok).toSorted(), [
      "ASSEMBLY_CANCELED",
      "ASSEMBLY_COMPLETED",
      "ASSEMBLY_COMPLETED"
    ])
  })

  effect("never runs more uploads at once than allowed, over all jobs", function* () {
    const { open, wrapped } = yield* counted
    const jobs = Array.from({ length: 12 }, (_, row) => jobOf("bounded", row, handle, 5))
    yield* AssemblyUpload.batch(Stream.fromIterable(jobs), { assemblies: 6, uploads: 3 }).pipe(
      Stream.runDrain,
      Effect.provideService(HttpClient.HttpClient, wrapped)
    )
    assert.strictEqual(open.most, 3)
  })

  for (const [options, places] of [
    [{ assemblies: 4 }, 4],
    [{}, 8]
  ] as const) {
    effect(`takes no more jobs than it has places for: ${places}`, function* () {
      const batch = `places${places}`
      let taken = 0
      const jobs = Stream.range(1, 1000).pipe(
        Stream.rechunk(1),
        Stream.map((row) => {
          taken++
          return jobOf(batch, row, waiting)
        })
      )
      const fiber = yield* Effect.forkChild(Stream.runDrain(AssemblyUpload.batch(jobs, options)))
      yield* Effect.repeat(Emulated.assembliesOf(batch), { until: (entries) => entries.length >= places })
      assert.isAtMost(taken, places + 2)
      yield* Fiber.interrupt(fiber)
      // An interruption leaves no Assembly that waits.
      const states = Tests.pluck(yield* Emulated.assembliesOf(batch), "ok")
      assert.deepStrictEqual(states, Array(places).fill("ASSEMBLY_CANCELED"))
    })
  }

  for (const [end, ends] of [
    ["fails", Effect.fail("the cursor was closed")],
    ["dies", Effect.die("the cursor was closed")],
    ["is interrupted", Effect.interrupt]
  ] as const) {
    /** Jobs that wait for an hour. When they run, the stream of jobs ends like this. */
    const jobsThatEnd = (batch: string) =>
      Stream.concat(
        Stream.make(jobOf(batch, 0, waiting), jobOf(batch, 1, waiting)),
        Stream.fromEffect(Effect.andThen(Emulated.untilExecuting(batch, 2), ends))
      )

    effect(`a stream of jobs that ${end} ends the batch at once, and cancels the running jobs`, function* () {
      const batch = `jobs ${end}`
      const cause = yield* causeOf(Stream.runDrain(AssemblyUpload.batch(jobsThatEnd(batch))))
      assert.deepStrictEqual(cause, yield* causeOf(ends))
      assert.deepStrictEqual(Tests.pluck(yield* Emulated.assembliesOf(batch), "ok"), [
        "ASSEMBLY_CANCELED",
        "ASSEMBLY_CANCELED"
      ])
    })

    effect(`jobs of a stream that ${end} are kept with a journal`, UploadJournal.layerMemory(), function* () {
      const batch = `resumable jobs ${end}`
      const cause = yield* causeOf(Stream.runDrain(AssemblyUpload.journaled.batch(jobsThatEnd(batch))))
      assert.deepStrictEqual(cause, yield* causeOf(ends))
      const entries = yield* Emulated.assembliesOf(batch)
      assert.deepStrictEqual(Tests.pluck(entries, "ok"), ["ASSEMBLY_EXECUTING", "ASSEMBLY_EXECUTING"])
      // The emulator would run them for an hour.
      yield* Effect.forEach(entries, ({ id }) => Assemblies.cancel(Assembly.AssemblyId.make(id)))
    })
  }

  effect("hands an outcome back while an earlier job still runs", function* () {
    const jobs = Stream.make(jobOf("slow", 0, waiting), jobOf("slow", 1), jobOf("slow", 2))
    const outcomes = yield* Stream.runCollect(Stream.take(AssemblyUpload.batch(jobs, { assemblies: 2 }), 2))
    const ends = outcomes.map(({ _tag, job }) => `${_tag} ${job.data.row}`)
    assert.deepStrictEqual(ends, ["Completed 1", "Completed 2"])
  })

  effect("a later run skips what has completed", UploadJournal.layerMemory(), function* () {
    const jobs = jobsOf("resumed", 12)
    const run = AssemblyUpload.journaled.batch(Stream.fromIterable(jobs), { assemblies: 3 })
    const tags = (outcomes: ReadonlyArray<{ readonly _tag: string }>) => new Set(Tests.pluck(outcomes, "_tag"))
    assert.deepStrictEqual(tags(yield* Stream.runCollect(Stream.take(run, 5))), new Set(["Completed"]))
    const second = yield* Stream.runCollect(run)
    assert.isAtLeast(second.filter(({ _tag }) => _tag === "Skipped").length, 5)
    assert.lengthOf(second, 12)
    assert.deepStrictEqual(tags(second), new Set(["Skipped", "Completed"]))
    assert.deepStrictEqual(tags(yield* Stream.runCollect(run)), new Set(["Skipped"]))
    // Each job has one Assembly, however often it was run.
    const entries = yield* Emulated.assembliesOf("resumed")
    assert.deepStrictEqual(Tests.pluck(entries, "ok"), Array(12).fill("ASSEMBLY_COMPLETED"))
  })

  effect("a job that does not wait is not skipped", UploadJournal.layerMemory(), function* () {
    const job = { ...jobOf("unseen", 0, waiting), wait: false }
    const run = Stream.runCollect(AssemblyUpload.journaled.batch(Stream.make(job)))
    const outcomes = [...(yield* run), ...(yield* run)]
    assert.deepStrictEqual(Tests.pluck(outcomes, "_tag"), ["Completed", "Completed"])
    assert.lengthOf(yield* Emulated.assembliesOf("unseen"), 1)
  })
})
