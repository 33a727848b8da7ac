/**
 * The keys of a journal are texts of callers, and names of files: one rule says which there are.
 */
import { UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Effect, FileSystem } from "effect"
import { assert, describe, it, Journals, Tests, Upload } from "./utils/index.ts"

const names = ["", "..", "../outside", "/etc/passwd", "k.json", "lease-k", "__proto__", "a".repeat(65)]
const wrong = [...names, ...Array.from("/\\K\u0000\né", (char) => `k${char}`)]

const entry = Journals.entryAt(0)

/** Every way into the journal, with one key. */
const ways = Effect.fnUntraced(function* (key: string, journal: UploadJournal.UploadJournal["Service"]) {
  return [
    Effect.flip(journal.get(key)),
    Effect.flip(journal.put(key, yield* entry)),
    Effect.flip(journal.forget(key)),
    Effect.flip(journal.lease(key)),
    Upload.journaled
      .resume({ key }, UploadSource.fromBytes(new Uint8Array(1)))
      .pipe(Effect.flip, Effect.provideService(UploadJournal.UploadJournal, journal))
  ] as const
})

describe("a journal", () => {
  const test = Tests.within(it.effect, Journals.running(Journals.layers.files))

  for (const key of wrong) {
    test(`refuses the key ${JSON.stringify(key)}, naming the field and the rule`, function* () {
      const journal = yield* UploadJournal.UploadJournal
      for (const way of yield* ways(key, journal)) {
        const error = yield* way
        assert(error._tag === "InvalidRequest", error._tag)
        assert.deepStrictEqual(error.issues[0]?.path, ["key"])
        assert.strictEqual(error.message, "UploadJournal: key: Expected 1 to 64 characters of a-z and 0-9")
      }
      assert.deepStrictEqual(yield* journal.list, [])
    })
  }
})

describe("a journal in a folder", () => {
  const test = Tests.within(it.effect, Journals.onPlatform)

  test("touches nothing beside the folder, and reads nothing of it that is no entry", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Journals.folder
    const journal = yield* Journals.inFolder(`${folder}/journal`)
    yield* fs.writeFileString(`${folder}/outside.json`, "kept")
    for (const way of yield* ways("../outside", journal)) yield* way
    assert.strictEqual(yield* fs.readFileString(`${folder}/outside.json`), "kept")
    assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), ["journal", "outside.json"])

    yield* journal.put("k", yield* entry)
    const text = yield* fs.readFileString(`${folder}/journal/k.json`)
    for (const name of [".json", "...json", "Other.json", "a b.json"]) {
      yield* fs.writeFileString(`${folder}/journal/${name}`, text)
    }
    assert.deepStrictEqual(Tests.pluck(yield* journal.list, "key"), ["k"])
  })

  test("takes a lease whatever other files its folder holds", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Journals.folder
    const journal = yield* Journals.inFolder(folder)
    yield* fs.makeDirectory(`${folder}/k.lease`)
    for (const name of ["0x10", "007", "1e3", "-1", " 2", "two"]) {
      yield* fs.writeFileString(`${folder}/k.lease/${name}`, "")
    }
    yield* journal.lease("k")
    assert.include(yield* fs.readDirectory(`${folder}/k.lease`), "1")
  })
})
