/**
 * Leases: how long they last, who takes them over, and how their loss is noticed.
 */
import { UploadJournal } from "@assembly-effect/tus"
import { Clock, Effect, Exit, Fiber, FileSystem, type Layer, PlatformError, Random, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Journaled from "../src/internal/journaled.ts"
import { assert, describe, it, Journals, Leases } from "./utils/index.ts"

const isLeased = (journal: UploadJournal.UploadJournal["Service"]) =>
  Effect.scoped(journal.lease("k")).pipe(
    Effect.as(false),
    Effect.catchTag("UploadLeased", () => Effect.succeed(true))
  )

/** Two processes with one store. The first one's way to it can fail. */
const two = () => {
  const { leases, store } = Leases.makeStore()
  const way: Leases.Way = { failing: undefined }
  return {
    leases,
    store,
    way,
    first: Effect.runSync(UploadJournal.make(Leases.reach(way, store))),
    second: Effect.runSync(UploadJournal.make(store))
  }
}

const untilIn = (text: string | undefined): number => JSON.parse(text ?? "{}").until

describe("a lease", () => {
  it.effect("is renewed while it is held, and free when it is let go", function* () {
    const { first, leases, second } = two()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { lost } = yield* first.lease("k")
        const watching = yield* Effect.forkChild(lost)
        for (let second10 = 1; second10 <= 30; second10++) {
          yield* TestClock.adjust("1 second")
          assert.isTrue(yield* isLeased(second), `after ${second10} s`)
        }
        assert.isAbove(untilIn(leases.get("k")), 30_000)
        assert.isUndefined(watching.pollUnsafe())
      })
    )
    assert.isFalse(yield* isLeased(second))
  })

  it.effect("whose renewal failed once is renewed within a second, and not a third of its time later", function* () {
    const { first, leases, way } = two()
    yield* first.lease("k")
    way.failing = "before"
    yield* TestClock.adjust("3400 millis")
    way.failing = undefined
    assert.strictEqual(untilIn(leases.get("k")), 10_000)
    yield* TestClock.adjust("1 second")
    assert.isAbove(untilIn(leases.get("k")), 14_000)
  })

  it.effect("whose renewals fail runs out: its holder learns it, and the next one gets it", function* () {
    const { first, second, way } = two()
    const { check, lost } = yield* first.lease("k")
    way.failing = "before"
    const losing = yield* Effect.forkChild(Effect.flip(lost))
    yield* TestClock.adjust("8999 millis")
    assert.isUndefined(losing.pollUnsafe())
    yield* check
    // Its holder stops a little before the next one can begin.
    yield* TestClock.adjust("1 millis")
    assert.isDefined(losing.pollUnsafe())
    yield* TestClock.adjust("999 millis")
    assert.isTrue(yield* isLeased(second))
    yield* TestClock.adjust("1 millis")
    const error = yield* Fiber.join(losing)
    assert.strictEqual(error._tag, "LeaseLost")
    const message =
      "the lease of the upload k was lost: the lease expired after its renewal failed: the store is away; run the upload again to continue"
    assert.strictEqual(error.message, message)
    assert.strictEqual((yield* Effect.flip(check))._tag, "LeaseLost")
    assert.isFalse(yield* isLeased(second))
  })

  it.effect("whose holder has died is taken over, though it expires while the store answers", function* () {
    const { leases, store } = Leases.makeStore()
    const slow = { ...store.leases, get: (key: UploadJournal.Key) => Effect.delay(store.leases.get(key), 20) }
    const journal = yield* UploadJournal.make({ ...store, leases: slow })
    leases.set("k", JSON.stringify({ owner: "a process that was killed", until: 10 }))
    const holding = Effect.flatMap(
      Journaled.hold(journal, "k", () => {}),
      ({ check }) => check
    )
    const held = yield* Effect.forkChild(Effect.scoped(holding))
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(held)
  })

  it.effect("whose renewal was written, though the store said no, is still one's own", function* () {
    const { first, leases, second, way } = two()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { check } = yield* first.lease("k")
        way.failing = "after"
        yield* TestClock.adjust("8 seconds")
        assert.isAbove(untilIn(leases.get("k")), 10_000)
        way.failing = undefined
        yield* TestClock.adjust("20 seconds")
        yield* check
        way.failing = "after"
        yield* TestClock.adjust("4 seconds")
        assert.isTrue(yield* isLeased(second))
        way.failing = undefined
      })
    )
    assert.isFalse(yield* isLeased(second))
  })

  it.effect("whose store does not answer is lost when it runs out", function* () {
    const { first, way } = two()
    const { lost } = yield* first.lease("k")
    way.failing = "never"
    const losing = yield* Effect.forkChild(Effect.flip(lost))
    yield* TestClock.adjust("10 seconds")
    assert.include((yield* Fiber.join(losing)).message, "the lease expired before the store responded")
    way.failing = undefined
  })

  it.effect.each([
    ["was taken by another", '{"owner":"x","until":99000}'],
    ["was removed", undefined]
  ] as const)("that %s is lost at its next renewal, and stays as it is", function* ([, text]) {
    const { first, leases } = two()
    const held = yield* Scope.make()
    const { lost } = yield* Scope.provide(first.lease("k"), held)
    leases.delete("k")
    if (text !== undefined) leases.set("k", text)
    const losing = yield* Effect.forkChild(Effect.flip(lost))
    yield* TestClock.adjust("3334 millis")
    assert.include((yield* Fiber.join(losing)).message, "another holder took the lease, or the lease was removed")
    yield* Scope.close(held, Exit.void)
    assert.strictEqual(leases.get("k"), text)
  })

  it.effect("a lease that another took while no timer of its holder fired: a check is LeaseLost", function* () {
    const { first, leases } = two()
    const { check } = yield* first.lease("k")
    leases.set("k", '{"owner":"another","until":100000}')
    const later = Object.assign(Object.create(yield* Clock.Clock), { currentTimeMillis: Effect.succeed(60_000) })
    const error = yield* Effect.flip(Effect.provideService(check, Clock.Clock, later))
    assert.strictEqual(error._tag, "LeaseLost")
  })
})

it.effect("a lease whose file is replaced while it is read protects its holder", Journals.platform, function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Journals.folder
  const replace = Effect.ignore(fs.rename(`${folder}/k.lease/1`, `${folder}/k.lease/2`))
  const changed = Leases.around(fs, (done, name) => (name === "stat" ? Effect.andThen(replace, done) : done))
  const journal = yield* Effect.provideService(Journals.inFolder(folder), FileSystem.FileSystem, changed)
  yield* fs.makeDirectory(`${folder}/k.lease`)
  yield* fs.writeFileString(`${folder}/k.lease/1`, '{"owner":"o","until":1e12}')
  assert.isTrue(yield* isLeased(journal))
})

/** What happens to the changes of one process, and counts those that are on their way. */
interface Process extends Leases.Way {
  readonly busy: { count: number }
}

/** An object whose operations take a while each, and of which one may fail as the way does. Others come between them. */
const slowed = <T extends object>(process: Process, real: T, failing: string, failure: unknown): T =>
  Leases.around(real, (operation, name) =>
    Effect.suspend(() => {
      process.busy.count++
      return Leases.later(name === failing ? Leases.along(process, failure, operation) : operation).pipe(
        Effect.ensuring(Effect.sync(() => process.busy.count--)),
        // What is opened is slow too.
        Effect.map((made) => (name === "open" ? slowed(process, made as object, failing, failure) : made))
      )
    })
  )

type Journal = UploadJournal.UploadJournal["Service"]
type Platform = Layer.Success<typeof Journals.platform> | Scope.Scope

/** A store, and the journals of processes that share it. */
const stores: Readonly<
  Record<string, Effect.Effect<(process: Process) => Effect.Effect<Journal, unknown, Platform>, unknown, Platform>>
> = {
  memory: Effect.sync(() => {
    const { store } = Leases.makeStore()
    const failure = new UploadJournal.JournalFailed({ action: "lease", description: "the store is away" })
    return (process) => UploadJournal.make({ ...store, leases: slowed(process, store.leases, "swap", failure) })
  }),

  files: Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Journals.folder
    const failure = PlatformError.systemError({
      _tag: "Unknown",
      module: "FileSystem",
      method: "link",
      description: "the disk is away"
    })
    return (process) =>
      Effect.provideService(Journals.inFolder(folder), FileSystem.FileSystem, slowed(process, fs, "link", failure))
  })
}

it.effect.each(Object.entries(stores))(
  "holders that begin, renew, fail, run out and let go in any order never hold one lease together, in %s",
  Journals.platform,
  function* ([name, store]) {
    const isReal = name === "files"
    const seeds = isReal ? 3 : 30
    let [held, lost] = [0, 0]
    // In what order files are written is not for the seed to say: some runs see few leases, or none that runs out.
    for (let seed = 0; seed < seeds || ((lost === 0 || held <= seeds * 2) && seed < 30); seed++) {
      const run = Effect.scoped(contend(yield* store, isReal ? "300 millis" : "5 seconds"))
      const counts = yield* Random.withSeed(run, seed)
      held += counts.held
      lost += counts.lost
    }
    assert.isAbove(held, seeds * 2)
    assert.isAbove(lost, 0, "some leases ran out")
  }
)

/** Some processes want the same lease over and over; the way of some fails in the middle. */
const contend = (
  makeJournal: (process: Process) => Effect.Effect<Journal, unknown, Platform>,
  time: `${number} ${"millis" | "seconds"}`
) =>
  Effect.gen(function* () {
    const busy = { count: 0 }
    // Who believes to hold the lease.
    const holders = new Set<number>()
    const counts = { held: 0, lost: 0 }

    const hold = Effect.fnUntraced(function* (id: number, process: Process, journal: Journal) {
      const lease = yield* journal.lease("k")
      assert.deepStrictEqual([...holders], [], `${id} gets it too`)
      holders.add(id)
      counts.held++
      const work = Effect.gen(function* () {
        yield* Effect.sleep(yield* Random.nextIntBetween(1, 12_000))
        if ((yield* Random.nextIntBetween(0, 2)) > 0) process.failing = (yield* Random.nextBoolean) ? "before" : "after"
        yield* Effect.sleep(yield* Random.nextIntBetween(1, 12_000))
      })
      yield* Effect.raceFirst(work, lease.lost).pipe(
        Effect.catchTag("LeaseLost", () => Effect.sync(() => void counts.lost++)),
        Effect.ensuring(Effect.sync(() => holders.delete(id)))
      )
    })

    const run = Effect.fnUntraced(function* (id: number) {
      const process: Process = { failing: undefined, busy }
      const journal = yield* makeJournal(process)
      for (let round = 0; round < 4; round++) {
        process.failing = undefined
        yield* hold(id, process, journal).pipe(
          Effect.scoped,
          Effect.catchTag(["UploadLeased", "JournalFailed"], () => Effect.void)
        )
        yield* Effect.sleep(yield* Random.nextIntBetween(1, 8000))
      }
    })

    const all = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 5 }), (_, id) => run(id), { concurrency: "unbounded" })
    )
    // Time passes while nothing is on its way: what files do takes real time.
    yield* Effect.suspend(() =>
      Effect.andThen(
        busy.count === 0 ? TestClock.adjust(time) : TestClock.withLive(Effect.sleep(0)),
        all.pollUnsafe() === undefined ? Effect.fail("at work") : Effect.void
      )
    ).pipe(Effect.retry({ while: () => true }))
    yield* Fiber.join(all)
    return counts
  })

it.effect.each([
  { levels: 100, held: true },
  { levels: 1_000_000, held: false }
])("the text of a lease of $levels levels protects its holder: $held", function* ({ held, levels }) {
  const { first, leases } = two()
  leases.set("k", `{"owner":"o","until":1e12,"more":${"[".repeat(levels)}${"]".repeat(levels)}}`)
  assert.strictEqual(yield* isLeased(first), held)
})

it.effect("what is left of leases goes a day after it ended, with the entries that expired", function* () {
  const { leases, store } = two()
  const journal = Effect.runSync(UploadJournal.make(store))
  leases.set("held", JSON.stringify({ owner: "o", until: 1e12 }))
  leases.set("torn", "{")
  yield* Effect.scoped(journal.lease("k"))
  const entry = yield* Journals.entryAt(0)
  yield* journal.put("e", entry)
  assert.deepStrictEqual([...leases.keys()].toSorted(), ["held", "k", "torn"])
  yield* TestClock.adjust("1 day")
  yield* journal.put("e", { ...entry, writtenAt: 86_400_000 })
  assert.deepStrictEqual([...leases.keys()], ["held"])
})
