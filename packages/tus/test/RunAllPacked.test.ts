/**
 * Jobs that share Assemblies: each has its own outcome with its own files, and one that fails is found among the others.
 */
import { ApiError, Assemblies, RetryPolicy } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadEvent, DeliveryProof, UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Clock, Effect, Fiber, Queue, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { assert, layer, AssemblyUpload, Emulated, Leases, Tests, TusServer } from "./utils/index.ts"

const hashing = {
  ":original": { robot: "/upload/handle" },
  poison: { robot: "/emulator/fail", use: ":original", error: "INVALID_FILE", filename: "poison.txt" },
  hash: { robot: "/file/hash", use: ":original" },
  again: { robot: "/file/hash", use: "hash", algorithm: "md5" }
}
const waiting = {
  ":original": { robot: "/upload/handle" },
  wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 }
}

const packing = { files: 100, bytes: 67_108_864, within: "1 second", repeatable: true } as const

const sha256 = (text: string) => TusServer.sha256(Buffer.from(text))

/** A job with `count` files. All files of all jobs have the same names, so that only their ids tell them apart. */
const jobOf = (batch: string, row: number, steps: object = hashing, filename = "photo.txt", count = 1) => {
  const contents = Array.from({ length: count }, (_, file) => `${batch} ${row} ${file}`)
  return {
    data: { row, hashes: contents.map(sha256) },
    params: { steps, fields: { batch } } as Assembly.CreateParams,
    files: contents.map((text) => ({ source: UploadSource.fromBytes(new TextEncoder().encode(text)), filename })),
    wait: { interval: "10 millis" } as const
  }
}

type Jobs = ReadonlyArray<ReturnType<typeof jobOf> & Pick<AssemblyUpload.Job, "transport" | "verify">>

/** By default all jobs fill a pack. */
const run = (
  jobs: Jobs,
  options: AssemblyUpload.AllOptions = {
    packing: { ...packing, files: jobs.reduce((sum, { files }) => sum + files.length, 0) }
  }
) =>
  Effect.map(Stream.runCollect(AssemblyUpload.batch(Stream.fromIterable(jobs), options)), (outcomes) =>
    outcomes.toSorted((a, b) => a.job.data.row - b.job.data.row)
  )

/** The Status of a completed job, which has the files and the results of this job only. */
const ownOf = (outcome: AssemblyUpload.Outcome<Jobs[number]>): Assembly.Status => {
  assert(outcome._tag === "Completed", outcome._tag)
  const { job, status } = outcome
  const own = job.data.hashes.toSorted()
  assert.deepStrictEqual((status.uploads ?? []).map((file) => file.sha256).toSorted(), own)
  assert.deepStrictEqual((status.results?.["hash"] ?? []).map((file) => file.meta?.["hash"]).toSorted(), own)
  assert.strictEqual(status.results?.["again"]?.length, own.length)
  return status
}

layer(Emulated.live)("AssemblyUpload.runAll with packing", ({ effect }) => {
  effect.each(["tus", "form"] as const)(
    "%s: 25 jobs are one Assembly, each with its own uploads and results",
    function* (transport) {
      const jobs = Array.from({ length: 25 }, (_, row) => ({ ...jobOf(`whole ${transport}`, row), transport }))
      const outcomes = yield* run(jobs)
      outcomes.forEach(ownOf)
      assert.deepStrictEqual(Tests.pluck(outcomes, "job"), jobs)
      assert.lengthOf(yield* Emulated.assembliesOf(`whole ${transport}`), 1)
    }
  )

  effect.each(["tus", "form"] as const)("%s: jobs with equal names and bytes have a file each", function* (transport) {
    const { params, wait } = jobOf(`equal ${transport}`, 0)
    const jobs = ["same", "same", "", "", "same"].map((text, row) => ({
      params,
      wait,
      data: { row, hashes: [sha256(text)] },
      files: [{ source: UploadSource.fromBytes(new TextEncoder().encode(text)), filename: "photo.txt" }],
      transport
    }))
    const ids = (yield* run(jobs)).map((outcome) => ownOf(outcome).uploads?.[0]?.id)
    assert.strictEqual(new Set(ids).size, jobs.length)
    assert.strictEqual((yield* Emulated.assembliesOf(`equal ${transport}`)).length, 1)
  })

  effect("one bad job of 32: 31 complete, after at most 2·log2(32) + 1 further Assemblies", function* () {
    const jobs = Array.from({ length: 32 }, (_, row) =>
      jobOf("poison", row, hashing, row === 19 ? "poison.txt" : "photo.txt")
    )
    const outcomes = yield* run(jobs)
    for (const outcome of outcomes) {
      if (outcome._tag !== "Failed") ownOf(outcome)
      else assert.strictEqual(outcome.error._tag, "AssemblyFailed")
    }
    const failed = outcomes.filter(({ _tag }) => _tag === "Failed").map(({ job }) => job.data.row)
    assert.deepStrictEqual(failed, [19])
    const entries = yield* Emulated.assembliesOf("poison")
    assert.isAtMost(entries.length, 1 + 11)
    // Each Assembly that contained the job is told.
    const failures = entries.filter(({ error }) => error === "INVALID_FILE").map(({ id }) => id)
    assert.includeMembers(failures, [...(outcomes[19]?.earlier ?? [])])
    assert.strictEqual(outcomes[19]?.earlier.length, failures.length - 1)
  })

  effect("other params: another Assembly; above a maximum, or with an own id: alone", function* () {
    const other = { ...hashing, more: { robot: "/upload/handle" } }
    const id = yield* Assemblies.newId
    const own = jobOf("apart", 11)
    const jobs = [
      ...Array.from({ length: 8 }, (_, row) => jobOf("apart", row, row % 2 === 0 ? hashing : other)),
      ...[8, 9].map((row) => jobOf("apart", row, hashing, "photo.txt", 3)),
      jobOf("apart", 10, hashing, "photo.txt", 7),
      { ...own, params: { ...own.params, assemblyId: id } }
    ]
    const outcomes = yield* run(jobs, { packing: { ...packing, files: 6 } })
    const rows = new Map<string, Array<number>>()
    for (const outcome of outcomes) {
      const { assembly_id: assemblyId } = ownOf(outcome)
      rows.set(assemblyId, [...(rows.get(assemblyId) ?? []), outcome.job.data.row])
    }
    assert.deepStrictEqual([...rows.values()].map(String).toSorted(), ["0,2,4,6", "1,3,5,7", "10", "11", "8,9"])
  })

  effect("a job whose source fails ends alone, and an invalid job is in no pack", function* () {
    const broken = {
      ...UploadSource.fromBytes(new Uint8Array(10)),
      bytes: () => Stream.fail(new UploadSource.SourceFailed({ kind: "Unreadable", description: "the disk is broken" }))
    }
    const wrong = { 3: [{ source: broken, filename: "photo.txt" }], 5: [] }
    const jobs = Array.from({ length: 8 }, (_, row) => {
      const job = jobOf("sources", row)
      return { ...job, files: Object.assign({ [row]: job.files }, wrong)[row] ?? [], verify: DeliveryProof.md5 }
    })
    const outcomes = yield* run(jobs)
    const tags = outcomes.map((outcome): string => (outcome._tag === "Failed" ? outcome.error._tag : outcome._tag))
    const expected = Object.assign(Array(8).fill("Completed"), { 3: "FilesFailed", 5: "InvalidRequest" })
    assert.deepStrictEqual(tags, expected)
  })

  for (const error of [
    new ApiError.AuthenticationFailed({ operation: "Assemblies.create", status: 401, description: "no such key" }),
    new ApiError.ServiceFailure({ operation: "Assemblies.create", status: 503, description: "away" })
  ]) {
    effect(`a pack of 3 files that meets ${error._tag}: the next packs have 3 files too`, function* () {
      const sizes: Array<number> = []
      const invalid = new ApiError.AssemblyFailed({ assemblyId: "", code: "INVALID_FILE", description: "not an image" })
      const answer = ({ length }: ReadonlyArray<unknown>) => {
        sizes.push(length)
        return Stream.fail(sizes.length === 1 ? invalid : error)
      }
      const jobs = yield* Queue.unbounded<Jobs[number]>()
      const ended = yield* Queue.unbounded<string>()
      yield* Stream.fromQueue(jobs).pipe(
        AssemblyUpload.runAll({ packing: { ...packing, files: 10 } }),
        Stream.runForEach(({ _tag }) => Queue.offer(ended, _tag)),
        Effect.provide(AssemblyUpload.layerTest(answer)),
        Effect.forkScoped
      )
      const one = (row: number) => jobOf("sizes", row)
      // After the failure of 10 files, the next pack has 3.
      for (const group of [
        [jobOf("sizes", 0, hashing, "photo.txt", 10)],
        [1, 2, 3].map(one),
        [4, 5, 6, 7, 8, 9].map(one)
      ]) {
        yield* Queue.offerAll(jobs, group)
        yield* Queue.takeN(ended, group.length)
      }
      assert.deepStrictEqual(sizes, [10, 3, 3, 3])
    })
  }

  effect.each([429, 503])("8 jobs whose uploads all get %s: each fails, and none is sent again", function* (status) {
    const away = HttpClient.make((request) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status })))
    )
    const jobs = Array.from({ length: 8 }, (_, row) => ({ ...jobOf(`away ${status}`, row), upload: { retryDelay: 0 } }))
    const outcomes = yield* run(jobs).pipe(Effect.provideService(HttpClient.HttpClient, away), RetryPolicy.none)
    assert.deepStrictEqual(Tests.pluck(outcomes, "_tag"), Array(8).fill("Failed"))
    assert.lengthOf(yield* Emulated.assembliesOf(`away ${status}`), 1)
  })

  effect("forms above `bytes` together, but not alone, are an Assembly each", function* () {
    const jobs = Array.from({ length: 2 }, (_, row) => ({ ...jobOf("bytes", row), transport: "form" as const }))
    const outcomes = yield* run(jobs, { packing: { ...packing, bytes: 10 } })
    outcomes.forEach(ownOf)
    assert.strictEqual((yield* Emulated.assembliesOf("bytes")).length, 2)
  })

  effect("forms of 5 MiB are an Assembly each, although `bytes` permits more together", function* () {
    const files = [{ source: UploadSource.fromBytes(new Uint8Array(5 * 1024 * 1024)), filename: "a" }]
    const jobs = Array.from({ length: 2 }, (_, row) => ({ ...jobOf("large", row), files, transport: "form" as const }))
    yield* run(jobs)
    assert.lengthOf(yield* Emulated.assembliesOf("large"), 2)
  })

  effect("`verify` that returns no Effect ends each job of a pack", function* () {
    const verify = (() => undefined) as never
    const outcomes = yield* run(Array.from({ length: 2 }, (_, row) => ({ ...jobOf("no proof", row), verify })))
    assert.deepStrictEqual(Tests.pluck(outcomes, "_tag"), ["Died", "Died"])
  })

  effect("runs a job after `within`, although the wall clock was set back during the wait", function* () {
    const clock = yield* Clock.Clock
    const now = clock.currentTimeMillisUnsafe()
    const still = { currentTimeMillisUnsafe: () => now, currentTimeMillis: Effect.succeed(now) }
    const outcomes = yield* run([jobOf("set back", 0)], { packing: { ...packing, within: "10 millis" } }).pipe(
      Effect.provide(AssemblyUpload.layerTest()),
      Effect.provideService(Clock.Clock, Object.assign(Object.create(clock), still))
    )
    assert.deepStrictEqual(Tests.pluck(outcomes, "_tag"), ["Completed"])
  })

  effect("an interruption cancels the packs", UploadJournal.layerMemory(), function* () {
    const jobs = Stream.fromIterable(Array.from({ length: 12 }, (_, row) => jobOf("interrupted", row, waiting)))
    const packs = { packing: { ...packing, files: 4 } }
    for (const all of [AssemblyUpload.batch(jobs, packs), AssemblyUpload.journaled.batch(jobs, packs)]) {
      const before = (yield* Emulated.assembliesOf("interrupted")).length
      const fiber = yield* Effect.forkChild(Stream.runDrain(all))
      yield* Emulated.untilExecuting("interrupted", 3)
      yield* Fiber.interrupt(fiber)
      const entries = yield* Emulated.assembliesOf("interrupted")
      assert.strictEqual(entries.length, before + 3)
      assert.isTrue(entries.every(({ ok }) => ok === "ASSEMBLY_CANCELED"))
    }
  })

  effect("jobs with `restart` are in no pack", UploadJournal.layerMemory(), function* () {
    const jobs = [0, 1].map((row) => jobOf("restarted", row))
    const left = yield* Effect.forEach(jobs, (job) =>
      AssemblyUploadEvent.result(Stream.take(AssemblyUpload.journaled.events(job), 1))
    )
    const again = Stream.map(Stream.fromIterable(jobs), (job) => ({ ...job, restart: true }))
    const outcomes = yield* Stream.runCollect(AssemblyUpload.journaled.batch(again, { packing }))
    assert.deepStrictEqual(Tests.pluck(outcomes, "_tag"), ["Completed", "Completed"])
    const entries = yield* Emulated.assembliesOf("restarted")
    const canceled = entries.filter(({ ok }) => ok === "ASSEMBLY_CANCELED").map(({ id }) => String(id))
    const ids = left.map(({ assembly_id: id }) => String(id))
    assert.sameMembers(canceled, ids)
    assert.strictEqual(entries.length, 4)
  })

  effect("invalid options and a missing `repeatable` are refused before any job is taken", function* () {
    const jobs = Stream.sync(() => assert.fail("a job was taken"))
    const invalid = { files: 0, bytes: "64 miles", within: -1 } as unknown as typeof packing
    const error = yield* Effect.flip(Stream.runDrain(AssemblyUpload.batch(jobs, { packing: invalid })))
    const fields = ["packing.files", "packing.bytes", "packing.within", "packing.repeatable"]
    assert.deepStrictEqual(Tests.pathsOf(error), fields)
  })
})

const storing = { ":original": hashing[":original"] }

const jobsOf = (batch: string, count: number, steps: object = storing, filename = (row: number) => `${row}.txt`) =>
  Array.from({ length: count }, (_, row) => ({
    data: row,
    params: { steps, fields: { batch } } as Assembly.CreateParams,
    files: [{ source: UploadSource.fromBytes(new TextEncoder().encode(`${batch} ${row}`)), filename: filename(row) }],
    wait: { interval: "10 millis" } as const
  }))

const mostFiles = 10

/**
 * At most ten jobs are one pack, which waits for no time, however busy the machine is. `sharing` of them are in this
 * pack.
 */
const all = (jobs: ReturnType<typeof jobsOf>, sharing = jobs.length) => {
  const isOne = sharing <= mostFiles
  const [files, within] = isOne ? ([sharing, "1 minute"] as const) : ([mostFiles, "100 millis"] as const)
  const options = { packing: { files, within, repeatable: true }, ordered: true } as const
  return AssemblyUpload.journaled.batch(Stream.fromIterable(jobs), options)
}

/** Runs with this store, like a process of its own. */
const within = (store: UploadJournal.Store) => Effect.provide(UploadJournal.layerStore(Effect.succeed(store)))

/** The tags of the outcomes of a run by a process of its own, which shares only the store with others. */
const tagsOf = (store: UploadJournal.Store, jobs: ReturnType<typeof jobsOf>, sharing?: number) =>
  Stream.runCollect(all(jobs, sharing)).pipe(
    Effect.map((outcomes) => Tests.pluck(outcomes, "_tag")),
    within(store)
  )

const times = <A>(count: number, tag: A) => Array.from({ length: count }, () => tag)

layer(Emulated.live)("the journal of packs", ({ effect }) => {
  effect("a journal that cannot be written: each job fails with JournalFailed, and nothing is sent", function* () {
    const { store } = Leases.makeStore()
    const full = {
      ...store,
      set: () => Effect.fail(new UploadJournal.JournalFailed({ action: "write", description: "the disk is full" }))
    }
    const outcomes = yield* within(full)(Stream.runCollect(all(jobsOf("full", 12))))
    for (const outcome of outcomes) {
      assert(outcome._tag === "Failed" && outcome.error._tag === "JournalFailed", outcome._tag)
    }
    assert.lengthOf(outcomes, 12)
    assert.deepStrictEqual(yield* Emulated.assembliesOf("full"), [])
  })

  effect("a run that ends after its first outcome: the next run skips every job of this pack", function* () {
    const { store } = Leases.makeStore()
    const jobs = jobsOf("first", 10)
    const first = yield* within(store)(Stream.runCollect(Stream.take(all(jobs), 1)))
    assert.deepStrictEqual(Tests.pluck(first, "_tag"), ["Completed"])
    assert.deepStrictEqual(yield* tagsOf(store, jobs), times(10, "Skipped"))
    assert.lengthOf(yield* Emulated.assembliesOf("first"), 1)
  })

  effect("a store that dies at one read of one job: this job is sent alone, and the others complete", function* () {
    const { store } = Leases.makeStore()
    let deaths = 0
    const dying = {
      ...store,
      get: (key: UploadJournal.Key) => (deaths++ === 0 ? Effect.die("a read") : store.get(key))
    }
    assert.deepStrictEqual(yield* tagsOf(dying, jobsOf("dying", 4), 3), times(4, "Completed"))
    assert.isAbove(deaths, 4)
  })

  effect("two processes with the same 25 jobs: one of them completes each job, and the other skips it", function* () {
    const { store } = Leases.makeStore()
    const tags = yield* Effect.all(
      [1, 2].map(() => tagsOf(store, jobsOf("two", 25))),
      { concurrency: 2 }
    )
    assert.deepStrictEqual(tags.flat().toSorted(), [...times(25, "Completed"), ...times(25, "Skipped")])
    assert.lengthOf(yield* Emulated.filesOf("two"), 25)
  })

  effect("a pack that completed unseen: jobs with names of their own are skipped", function* () {
    for (const [batch, filename, again] of [
      ["unseen", (row: number) => `${row}.txt`, "Skipped"],
      ["equal", () => "photo.txt", "Completed"]
    ] as const) {
      const { store } = Leases.makeStore()
      const blind = {
        ...store,
        set: (key: UploadJournal.Key, text: string) =>
          text.includes('"Completed"') ? Effect.void : store.set(key, text)
      }
      const jobs = jobsOf(batch, 4, storing, filename)
      assert.deepStrictEqual(yield* tagsOf(blind, jobs), times(4, "Completed"))
      assert.deepStrictEqual(yield* tagsOf(store, jobs), times(4, again))
      const status = yield* within(store)(AssemblyUpload.journaled.run(jobs[1]!))
      assert.deepStrictEqual(Tests.pluck(status.uploads ?? [], "name"), [filename(1)])
    }
  })

  effect("a pack that a dead process left is canceled, and its jobs are sent again in another", function* () {
    const { store } = Leases.makeStore()
    const jobs = jobsOf("left", 3, waiting)
    const isRunning = (count: number) =>
      Effect.repeat(Emulated.assembliesOf("left"), {
        until: (entries) => entries.length === count && entries.some(({ ok }) => ok === "ASSEMBLY_EXECUTING")
      })
    const first = yield* Effect.forkChild(tagsOf(store, jobs))
    yield* isRunning(1)
    // A dead process holds no lease.
    const { store: free } = Leases.makeStore()
    const second = yield* Effect.forkChild(tagsOf({ ...store, leases: free.leases }, jobs))
    const entries = yield* isRunning(2)
    assert.strictEqual(entries.filter(({ ok }) => ok === "ASSEMBLY_CANCELED").length, 1)
    yield* Fiber.interrupt(second)
    yield* Fiber.interrupt(first)
  })
})
