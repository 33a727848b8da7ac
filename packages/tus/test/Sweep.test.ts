/** Expired entries go while uploads write, and no write waits for the whole journal. */
import { Assembly } from "@assembly-effect/schema"
import { UploadJournal } from "@assembly-effect/tus"
import { Effect, Option, Random } from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it, Journals, Leases } from "./utils/index.ts"

/** A store that counts what is asked of it. */
const counted = () => {
  const { leases, store } = Leases.makeStore()
  let count = 0
  const counting = Leases.around(store, (operation) =>
    Effect.suspend(() => {
      count++
      return operation
    })
  )
  const journal = (options?: UploadJournal.Options) => Effect.runSync(UploadJournal.make(counting, options))
  const taken = () => {
    const before = count
    count = 0
    return before
  }
  return { journal, leases, store, taken }
}

/** Entries of uploads and of Assemblies, and leases, all written at the time 0. */
const fill = (journal: UploadJournal.UploadJournal["Service"], leases: Map<string, string>, count: number) =>
  Effect.gen(function* () {
    const entry = yield* Journals.entryAt(0)
    for (let index = 0; index < count; index++) {
      yield* journal.put(`a${index}`, entry)
      yield* journal.assemblies.put(`job${index}`, {
        _tag: "Creating",
        assemblyId: Assembly.AssemblyId.make("0".repeat(32)),
        writtenAt: 0
      })
      leases.set(`b${index}`, JSON.stringify({ owner: "o", until: 0 }))
    }
  })

describe("a journal", () => {
  it.effect("asks as much of its store for a write with a thousand entries as with fifty", function* () {
    const costs: Array<number> = []
    for (const size of [50, 1000]) {
      const { journal, leases, taken } = counted()
      yield* fill(journal(), leases, size)
      taken()
      yield* journal().put("mine", yield* Journals.entryAt(0))
      costs.push(taken())
    }
    // One write, two listings, sixteen others.
    assert.deepStrictEqual(costs, [19, 19])
  })

  it.effect("loses everything that expired, a few at each write", function* () {
    const { journal, leases, store } = counted()
    yield* fill(journal(), leases, 100)
    yield* TestClock.adjust("1 day")
    const now = yield* Journals.entryAt(86_400_000)
    const one = journal()
    for (let write = 0; write < 20; write++) yield* one.put("mine", now)
    assert.deepStrictEqual(yield* store.keys, ["mine"])
    // The removal of an entry takes its lease. It goes with the next sweeps.
    const left = [...leases.keys()].filter((key) => key.startsWith("b"))
    assert.deepStrictEqual(left, [])
    assert.isTrue(Option.isSome(yield* one.get("mine")))
  })

  it.effect("loses everything that expired, if each process writes once", () =>
    Effect.gen(function* () {
      const { journal, leases, store } = counted()
      const now = yield* Journals.entryAt(86_400_000)
      // A store lists its oldest names first. These stay.
      const valid = Array.from({ length: 30 }, (_, index) => `valid${index}`)
      for (const key of valid) yield* journal().put(key, now)
      yield* fill(journal(), leases, 20)
      yield* TestClock.adjust("1 day")
      for (let process = 0; process < 100; process++) yield* journal().put("valid0", now)
      assert.deepStrictEqual(yield* store.keys, valid)
    }).pipe(Random.withSeed("processes"))
  )

  it.effect("lists its store again after an hour, and not before", function* () {
    const { journal, taken } = counted()
    const one = journal()
    const entry = yield* Journals.entryAt(0)
    yield* one.put("mine", entry)
    taken()
    yield* one.put("mine", entry)
    assert.strictEqual(taken(), 1)
    yield* TestClock.adjust("59 minutes")
    yield* one.put("mine", entry)
    assert.strictEqual(taken(), 1)
    yield* TestClock.adjust("1 minute")
    yield* one.put("mine", entry)
    // Its own entry is checked too.
    assert.strictEqual(taken(), 4)
  })
})
