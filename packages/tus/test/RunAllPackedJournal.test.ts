/** What a journal knows of jobs that share Assemblies: it is written before anything is sent, and no file is stored twice. */
import type { Assembly } from "@assembly-effect/schema"
import { UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Effect, Fiber, Stream } from "effect"
import { assert, layer, AssemblyUpload, Emulated, Leases, Tests } from "./utils/index.ts"

const storing = { ":original": { robot: "/upload/handle" } }
const waiting = { ...storing, wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 } }

const jobsOf = (batch: string, count: number, steps: object = storing, filename = (row: number) => `${row}.txt`) =>
  Array.from({ length: count }, (_, row) => ({
    data: row,
    params: { steps, fields: { batch } } as Assembly.CreateParams,
    files: [{ source: UploadSource.fromBytes(new TextEncoder().encode(`${batch} ${row}`)), filename: filename(row) }],
    wait: { interval: "10 millis" } as const
  }))

const packing = { files: 10, within: "100 millis", repeatable: true } as const

const all = (jobs: ReturnType<typeof jobsOf>) =>
  AssemblyUpload.journaled.batch(Stream.fromIterable(jobs), { packing, ordered: true })

/** Runs with this store, like a process of its own. */
const within = (store: UploadJournal.Store) => Effect.provide(UploadJournal.layerStore(Effect.succeed(store)))

/** The tags of the outcomes of a run by a process of its own, which shares only the store with others. */
const tagsOf = (store: UploadJournal.Store, jobs: ReturnType<typeof jobsOf>) =>
  Stream.runCollect(all(jobs)).pipe(
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

  effect("two processes with the same 25 jobs: one of them completes each job, and the other skips it", function* () {
    const { store } = Leases.makeStore()
    const tags = yield* Effect.all(
      [1, 2].map(() => tagsOf(store, jobsOf("two", 25))),
      { concurrency: 2 }
    )
    assert.deepStrictEqual(tags.flat().toSorted(), [...times(25, "Completed"), ...times(25, "Skipped")])
    const files = yield* Emulated.filesOf("two")
    assert.lengthOf(files, 25)
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
      const [, second] = jobs
      assert(second !== undefined)
      const status = yield* within(store)(AssemblyUpload.journaled.run(second))
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
