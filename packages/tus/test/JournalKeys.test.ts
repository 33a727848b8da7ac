/**
 * The keys of a journal are texts of callers, and names of files: one rule says which there are.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Context, Effect, FileSystem, Layer, type Scope } from "effect"
import { assert, describe, it, Journals, Tests, Upload } from "./utils/index.ts"

const wrong = [
  "",
  "..",
  "../outside",
  "a/b",
  "a\\b",
  "/etc/passwd",
  "K",
  "k.json",
  "lease-k",
  "k\u0000",
  "k\n",
  "é",
  "__proto__",
  "a".repeat(65)
]

const entry = Journals.entryAt(0)

const isRefused = (error: { readonly _tag: string }): error is InvalidRequest => error._tag === "InvalidRequest"

/** Every way into the journal, with one key. */
const ways = Effect.fnUntraced(function* (key: string) {
  const journal = yield* UploadJournal.UploadJournal
  return [
    Effect.flip(journal.get(key)),
    Effect.flip(journal.put(key, yield* entry)),
    Effect.flip(journal.forget(key)),
    Effect.flip(journal.lease(key)),
    Effect.flip(Upload.journaled.resume({ key }, UploadSource.fromBytes(new Uint8Array(1))))
  ] as const
})

describe("a journal", () => {
  const test = Tests.within(it.effect, Journals.running(Journals.layers.files))

  for (const key of wrong) {
    test(`refuses the key ${JSON.stringify(key)}, naming the field and the rule`, function* () {
      for (const way of yield* ways(key)) {
        const error = yield* way
        if (!isRefused(error)) return assert.fail(error._tag)
        assert.deepStrictEqual(error.issues[0]?.path, ["key"])
        assert.strictEqual(error.message, "UploadJournal: key: Expected 1 to 64 characters of a-z and 0-9")
      }
      assert.deepStrictEqual(yield* (yield* UploadJournal.UploadJournal).list, [])
    })
  }
})

describe("a journal in a folder", () => {
  const test = Tests.within(
    it.effect,
    <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof Journals.platform> | Scope.Scope>) =>
      Effect.provide(effect, Journals.platform)
  )

  test("touches nothing beside the folder, and reads nothing of it that is no entry", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Journals.folder
    const context = yield* Layer.build(UploadJournal.layerFileSystem(`${folder}/journal`))
    const journal = Context.get(context, UploadJournal.UploadJournal)
    yield* fs.writeFileString(`${folder}/outside.json`, "kept")
    yield* Effect.ignore(journal.forget("../outside"))
    yield* Effect.ignore(journal.put("../outside", yield* entry))
    yield* Effect.ignore(journal.lease("../outside"))
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
    const context = yield* Layer.build(UploadJournal.layerFileSystem(folder))
    const journal = Context.get(context, UploadJournal.UploadJournal)
    yield* fs.makeDirectory(`${folder}/k.lease`)
    for (const name of ["0x10", "007", "1e3", "-1", " 2", "two"]) {
      yield* fs.writeFileString(`${folder}/k.lease/${name}`, "")
    }
    yield* journal.lease("k")
    assert.include(yield* fs.readDirectory(`${folder}/k.lease`), "1")
  })
})
