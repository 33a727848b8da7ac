/** Tests moves of assets and folders by their paths, and invalid paths. */
import { Dam } from "@assembly-effect/api"
import { Effect } from "effect"
import { folderOf, pathsUnder, storeAll, storeOne } from "./assets.ts"
import { signedForm } from "./notified.ts"
import { json, layer as layerEmulator, storeAt } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const moveEntry = (source: string, destination: string) => Dam.moveEntry({ source, destination })

layer(layerEmulator())("Moving an entry by its path", (it) => {
  it.effect("renames and moves an asset, and creates missing folders", function* () {
    const id = yield* storeOne("asset/a.txt")
    const moved = yield* moveEntry("/asset/a.txt", "/asset/b.txt")
    assert.deepInclude(moved, { ok: "DAM_ENTRY_MOVED", path: "asset/b.txt" })
    assert.strictEqual((yield* moveEntry("asset/b.txt", "asset/new/folders/c.txt")).path, "asset/new/folders/c.txt")
    assert.strictEqual((yield* Dam.get(id)).asset.path, "asset/new/folders/c.txt")
    assert.strictEqual((yield* moveEntry("asset/new/folders/c.txt", "asset.txt")).path, "asset.txt")
    assert.deepStrictEqual(yield* pathsUnder("asset/"), [])
    // The asset already has this path.
    assert.strictEqual((yield* moveEntry("asset.txt", "/asset.txt")).path, "asset.txt")
    assert.strictEqual((yield* Dam.get(id)).asset.path, "asset.txt")
  })

  it.effect("moves a folder with everything in it; its id and the ids of its assets stay", function* () {
    const [a, b] = yield* storeAll("folder/one/two", ["a", "b"])
    yield* storeOne("folder/one/c")
    const before = yield* folderOf(a, "a")
    assert.strictEqual((yield* moveEntry("folder/one", "elsewhere/first")).path, "elsewhere/first")
    assert.deepStrictEqual(yield* pathsUnder("folder/"), [])
    const moved = ["two/a", "two/b", "c"].map((path) => `elsewhere/first/${path}`)
    assert.deepStrictEqual(yield* pathsUnder("elsewhere/"), moved)
    assert.strictEqual(yield* folderOf(a, "a"), before)
    assert.strictEqual((yield* Dam.get(b)).asset.path, "elsewhere/first/two/b")
    // The old path of the folder is free.
    yield* storeOne("folder/one")
    assert.deepStrictEqual(yield* pathsUnder("folder/"), ["folder/one"])
  })

  it.effect("does not find what is not there", function* () {
    yield* Dam.delete(yield* storeOne("missing/deleted"))
    yield* storeOne("missing/asset")
    for (const source of ["missing/none", "nowhere/none", "missing/deleted", "missing/asset/more", "Missing/asset"]) {
      const error = yield* Effect.flip(moveEntry(source, "missing/new/place"))
      assert.deepInclude(error, { _tag: "DamResourceNotFound", status: 404 })
      assert.include(error.message, "source: ")
    }
    // The refused moves have created no folder.
    yield* storeOne("missing/new")
  })

  it.effect("replaces nothing", function* () {
    yield* storeAll("kept", ["a", "b"])
    yield* storeOne("kept/folder/c")
    yield* storeOne("kept/other/c")
    const before = yield* pathsUnder("kept/")
    const conflicts = [
      ["kept/a", "kept/b"],
      ["kept/a", "kept/folder"],
      ["kept/folder", "kept/a"],
      ["kept/folder", "kept/other"],
      // An asset cannot contain another entry.
      ["kept/a", "kept/b/c"],
      ["kept/a", "kept/a/b"],
      ["kept/folder", "kept/a/b/c"],
      ["kept/folder/c", "kept"]
    ] as const
    for (const [source, destination] of conflicts) {
      const error = yield* Effect.flip(moveEntry(source, destination))
      assert.deepInclude(error, { _tag: "DamMutationConflict", status: 409 }, `${source} to ${destination}`)
      assert.deepStrictEqual(yield* pathsUnder("kept/"), before)
    }
  })

  it.effect("a new file does not get the name of a folder, nor a folder the name of an asset", function* () {
    yield* storeOne("held/folder/a")
    yield* storeOne("held/b")
    for (const path of ["held/folder", "held/b/c"]) {
      const file = new File([path], "file")
      const said = json(yield* signedForm("/assemblies", { steps: storeAt(path) }, [file]))
      const message = "A folder has the path of the file, or an asset has the path of a folder."
      assert.deepInclude(said, { error: "INTERNAL_COMMAND_ERROR", message })
      assert.deepStrictEqual(yield* pathsUnder("held/"), ["held/folder/a", "held/b"])
    }
  })

  it.effect("moves no folder into itself", function* () {
    yield* storeOne("self/in/file")
    for (const destination of ["self/in", "self/new", "self/in/deeper/still"]) {
      const error = yield* Effect.flip(moveEntry("/self", destination))
      assert.deepInclude(error, { _tag: "DamInvalidRequest", status: 400 })
      assert.include(error.message, "destination: ")
    }
    assert.deepStrictEqual(yield* pathsUnder("self/"), ["self/in/file"])
    // The destination starts with the same text, but it is not in the folder.
    assert.strictEqual((yield* moveEntry("self", "self too/inside")).path, "self too/inside")
    assert.deepStrictEqual(yield* pathsUnder("self"), ["self too/inside/in/file"])
  })

  it.effect("keeps the limits for everything in a folder", function* () {
    const name = "n".repeat(200)
    yield* storeOne(`deep/${name}/${name}/file`)
    const before = yield* pathsUnder("deep/")
    // The destination has 105 code points. The path of the file in the folder adds 1 + 200 + 1 + 200 + 5.
    const within = `${"d".repeat(103)}/d`
    assert.strictEqual((yield* moveEntry("deep", within)).path, within)
    yield* moveEntry(within, "deep")
    for (const destination of [`${"d".repeat(104)}/d`, "d".repeat(106)]) {
      const error = yield* Effect.flip(moveEntry("deep", destination))
      assert.deepInclude(error, { _tag: "DamInvalidRequest", status: 400 })
      assert.include(error.message, "destination: ")
      assert.deepStrictEqual(yield* pathsUnder("deep/"), before)
    }
    // The path of the file in the folder has 606 bytes.
    yield* storeOne(`wide/${"\u{1f600}".repeat(150)}/file`)
    yield* moveEntry("wide", "\u{1f600}".repeat(104))
    const error = yield* Effect.flip(moveEntry("\u{1f600}".repeat(104), "\u{1f600}".repeat(105)))
    assert.strictEqual(error._tag, "DamInvalidRequest")
    // The path of a deleted asset does not count.
    const short = yield* storeOne("short/file")
    const [long] = yield* storeAll("short", ["l".repeat(200)])
    yield* Dam.delete(long)
    yield* moveEntry("short", `${"s".repeat(200)}/${"s".repeat(200)}`)
    assert.strictEqual((yield* Dam.get(short)).asset.path.length, 406)
  })

  it.effect("treats the normal forms of a name as one name, and no other names", function* () {
    const id = yield* storeOne("forms/cafe\u0301")
    const moved = yield* moveEntry("forms/caf\u00e9", "forms/re\u0301sume\u0301")
    assert.strictEqual(moved.path, "forms/r\u00e9sum\u00e9")
    const error = yield* Effect.flip(moveEntry(moved.path, "forms/r\u00e9sum\u00e9/x"))
    assert.strictEqual(error._tag, "DamMutationConflict")
    // A ligature stays, because the normal form is NFC and not NFKC. Case and spaces stay too.
    for (const path of ["forms/\ufb01le", "forms/file", "forms/FILE", "forms/ file ", "forms/ＦＩＬＥ"]) {
      const source = (yield* Dam.get(id)).asset.path
      assert.strictEqual((yield* moveEntry(source, path)).path, path)
    }
  })
})
