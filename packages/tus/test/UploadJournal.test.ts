import { Assembly } from "@assembly-effect/schema"
import { UploadJournal } from "@assembly-effect/tus"
import { Effect, FileSystem, Option, PlatformError, Random } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { assert, describe, it, Journals, Leases, Tests } from "./utils/index.ts"

const entry = Journals.entryAt(0)

type Jobs = UploadJournal.UploadJournal["Service"]["assemblies"]

const assemblyId = Assembly.AssemblyId.make("0".repeat(32))

/** Two jobs that were written at the time 0. One of them has completed. */
const putJobs = (assemblies: Jobs) =>
  Effect.forEach(["Created", "Completed"] as const, (_tag) =>
    assemblies.put(`job${_tag.toLowerCase()}`, { _tag, assemblyId, writtenAt: 0 })
  )

const tagsOf = (assemblies: Jobs) => Effect.map(assemblies.list, (all) => all.map(({ entry: { _tag } }) => _tag))

for (const [name, provided] of Object.entries(Journals.layers)) {
  const test = Tests.within(it.effect, Journals.running(provided))

  describe(`UploadJournal in ${name}`, () => {
    test("keeps, lists and forgets entries", function* () {
      const journal = yield* UploadJournal.UploadJournal
      const one = yield* entry
      assert.isTrue(Option.isNone(yield* journal.get("k")))
      yield* journal.put("k", one)
      const read = Option.getOrThrow(yield* journal.get("k"))
      assert.deepStrictEqual(read, one)
      assert.deepStrictEqual(Tests.pluck(yield* journal.list, "key"), ["k"])
      yield* journal.forget("k")
      yield* journal.forget("k")
      assert.isTrue(Option.isNone(yield* journal.get("k")))
    })

    test("an entry of an upload that is not to be trusted never expires", function* () {
      const journal = yield* UploadJournal.UploadJournal
      const state = { _tag: "Untrusted", urls: [], description: "17 bytes", mayBeWhole: false } as const
      yield* journal.put("k", yield* Journals.entryAt(0, state))
      yield* TestClock.adjust("3650 days")
      assert.isTrue(Option.isSome(yield* journal.get("k")))
      assert.strictEqual((yield* journal.list).length, 1)
    })

    test("an entry expires", function* () {
      const journal = yield* UploadJournal.UploadJournal
      yield* journal.put("k", yield* entry)
      yield* TestClock.adjust("23 hours")
      assert.isTrue(Option.isSome(yield* journal.get("k")))
      yield* TestClock.adjust("1 hours")
      assert.isTrue(Option.isNone(yield* journal.get("k")))
    })

    test("remembers a completed job for 60 days, and a job that has not completed for a day", function* () {
      const { assemblies } = yield* UploadJournal.UploadJournal
      yield* putJobs(assemblies)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* tagsOf(assemblies), ["Completed"])
      assert.isTrue(Option.isNone(yield* assemblies.get("jobcreated")))
      yield* TestClock.adjust("58 days")
      assert.isTrue(Option.isSome(yield* assemblies.get("jobcompleted")))
      yield* TestClock.adjust("1 day")
      assert.isTrue(Option.isNone(yield* assemblies.get("jobcompleted")))
      assert.deepStrictEqual(yield* tagsOf(assemblies), [])
    })

    test("an upload is leased to one at a time, and again when the lease ran out", function* () {
      const journal = yield* UploadJournal.UploadJournal
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* journal.lease("k")
          assert.strictEqual((yield* Effect.flip(journal.lease("k")))._tag, "UploadLeased")
          yield* journal.lease("other")
        })
      )
      yield* Effect.scoped(journal.lease("k"))
    })
  })
}

describe("UploadJournal in files", () => {
  const { inFolder } = Journals
  const test = Tests.within(it.effect, Journals.onPlatform)

  test("is for its owner only, and leaves no temporary file", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* Journals.folder}/journal`
    const journal = yield* inFolder(path)
    yield* journal.put("k", yield* entry)
    yield* Effect.scoped(journal.lease("k"))
    assert.deepStrictEqual((yield* fs.readDirectory(path)).toSorted(), ["k.json", "k.lease"])
    assert.deepStrictEqual((yield* fs.readDirectory(`${path}/k.lease`)).length, 1)
    assert.strictEqual((yield* fs.stat(`${path}/k.lease`)).mode & 0o777, 0o700)
    assert.strictEqual((yield* fs.stat(`${path}/k.json`)).mode & 0o777, 0o600)
    assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o700)
  })

  test("a torn entry is a typed error that does not tell it, and can be forgotten", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Journals.folder
    const journal = yield* inFolder(path)
    yield* journal.put("k", yield* entry)
    const text = yield* fs.readFileString(`${path}/k.json`)
    const deep = (levels: number) => text.replace("{", `{"more":${"[".repeat(levels)}${"]".repeat(levels)},`)
    yield* fs.writeFileString(`${path}/k.json`, deep(100))
    assert.isTrue(Option.isSome(yield* journal.get("k")))
    const damaged = ["", text.slice(0, -10), "null", text.replace("https:", "http:"), deep(1_000_000)]
    for (const torn of damaged) {
      yield* fs.writeFileString(`${path}/k.json`, torn)
      const error = yield* Effect.flip(journal.get("k"))
      assert.strictEqual(error._tag, "JournalTorn")
      assert.notInclude(error.message, "example.com")
      assert.deepStrictEqual(yield* journal.list, [])
    }
    yield* journal.forget("k")
    assert.isTrue(Option.isNone(yield* journal.get("k")))
  })

  test("a named pipe in the place of an entry or a lease is not opened", function* () {
    const path = yield* Journals.folder
    const journal = yield* inFolder(path)
    execFileSync("mkfifo", ["k.json"], { cwd: path })
    assert.strictEqual((yield* Effect.flip(journal.get("k")))._tag, "JournalTorn")
    assert.deepStrictEqual(yield* journal.list, [])
    yield* journal.forget("k")
    assert.isTrue(Option.isNone(yield* journal.get("k")))
    yield* (yield* FileSystem.FileSystem).makeDirectory(`${path}/k.lease`)
    execFileSync("mkfifo", ["1"], { cwd: `${path}/k.lease` })
    yield* Effect.scoped(journal.lease("k"))
  })

  test("a folder without a name is refused by its field", function* () {
    // A JavaScript program may give an unset variable.
    for (const path of ["", " ", undefined as never, 5 as never]) {
      const error = yield* Effect.flip(inFolder(path))
      assert.strictEqual(error.message, "the upload journal: cannot write: folder: Expected a non-blank string")
    }
  })

  test("`completedExpiry` sets how long a completed job is remembered", function* () {
    for (const completedExpiry of ["1 hour", "Infinity"] as const) {
      const { assemblies } = yield* inFolder(yield* Journals.folder, { completedExpiry })
      yield* putJobs(assemblies)
      yield* TestClock.setTime(3650 * 86_400_000)
      assert.deepStrictEqual(yield* tagsOf(assemblies), completedExpiry === "Infinity" ? ["Completed"] : [])
      yield* TestClock.setTime(0)
    }
  })

  test("a journal that cannot be written says so", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* Journals.folder}/journal`
    const journal = yield* inFolder(path)
    yield* fs.remove(path, { recursive: true })
    assert.deepInclude(yield* Effect.flip(journal.put("k", yield* entry)), { _tag: "JournalFailed", action: "write" })
  })

  const free = "; free some space, and run the upload again"
  const allow = "; make the journal writable, and run the upload again"
  test.each([
    ["ENOSPC", "Full", free],
    ["EDQUOT", "Full", free],
    ["EROFS", "Denied", allow],
    ["EACCES", "Denied", allow],
    ["EIO", "Other", ""]
  ] as const)("a disk that answers %s is %s for a write and for a lease", function* ([code, reason, remedy]) {
    const fs = yield* FileSystem.FileSystem
    const cause = Object.assign(new Error("no"), { code })
    const common = { module: "FileSystem", method: "open", description: "no" }
    const failure = Effect.fail(PlatformError.systemError({ _tag: "Unknown", ...common, cause }))
    const folder = yield* Journals.folder
    const disk: FileSystem.FileSystem = {
      ...fs,
      open: () => failure,
      makeDirectory: (path, options) => (path === folder ? fs.makeDirectory(path, options) : failure)
    }
    const journal = yield* Effect.provideService(inFolder(folder), FileSystem.FileSystem, disk)
    for (const failing of [journal.put("k", yield* entry), Effect.scoped(journal.lease("k"))]) {
      const error = yield* Effect.flip(failing)
      assert.deepInclude(error, { _tag: "JournalFailed", reason })
      assert.isTrue(error.message.endsWith(`(${code})${remedy}`), error.message)
    }
  })
})

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
    const old = yield* Journals.entryAt(0)
    for (let index = 0; index < count; index++) {
      yield* journal.put(`a${index}`, old)
      yield* journal.assemblies.put(`job${index}`, { _tag: "Creating", assemblyId, writtenAt: 0 })
      leases.set(`b${index}`, JSON.stringify({ owner: "o", until: 0 }))
    }
  })

describe("the expired entries of a journal", () => {
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
    const old = yield* Journals.entryAt(0)
    yield* one.put("mine", old)
    taken()
    for (const pause of ["0 seconds", "59 minutes"] as const) {
      yield* TestClock.adjust(pause)
      yield* one.put("mine", old)
      assert.strictEqual(taken(), 1)
    }
    yield* TestClock.adjust("1 minute")
    yield* one.put("mine", old)
    // Its own entry is checked too.
    assert.strictEqual(taken(), 4)
  })
})
