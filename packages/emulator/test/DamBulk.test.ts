/** Tests that a change of many assets changes all of the assets or none. */
import { Dam } from "@assembly-effect/api"
import { Identifier } from "@assembly-effect/schema"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as DamStore from "../src/internal/dam/damStore.ts"
import { folderOf, layerStore, nobody, pathsUnder, put, storeAll, storeOne } from "./assets.ts"
import { refused } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { layer as layerEmulator, temporaryFolder } from "./support.ts"
import { assert, describe, effect, layer, live } from "@assembly-effect/testkit/flow"

layer(layerEmulator())("Many assets", (it) => {
  it.effect("are moved to a folder, and to the root", function* () {
    const [a, b] = yield* storeAll("move/from", ["a", "b"])
    const target = yield* folderOf(yield* storeOne("move/to/there"), "there")
    const { assets, ok } = yield* Dam.moveMany({ assetIds: [b, a], destinationFolderId: target })
    assert.strictEqual(ok, "DAM_ASSETS_MOVED")
    for (const [index, [id, filename]] of [[b, "b"] as const, [a, "a"] as const].entries()) {
      const path = `move/to/${filename}`
      assert.deepInclude(assets[index], { asset_id: id, path, filename, folder_id: target, deleted_at: null })
      assert.deepInclude(assets[index]?.asset, { asset_id: id, path })
    }
    assert.strictEqual((yield* Dam.get(a)).asset.path, "move/to/a")
    // One of the assets is already in the root.
    yield* Dam.move(a, { destinationFolderId: null, filename: "bulk a" })
    const rooted = yield* Dam.moveMany({ assetIds: [a, b], destinationFolderId: null })
    assert.deepInclude(rooted.assets[0], { folder_id: null, path: "bulk a" })
    assert.deepInclude(rooted.assets[1], { folder_id: null, path: "b" })
  })
  it.effect("up to 500 are changed at once", function* () {
    const names = Array.from({ length: 501 }, (_, index) => `${index}`)
    const most = (yield* storeAll("most", names)).slice(0, 500)
    const target = yield* folderOf(yield* storeOne("target of most/there"), "there")
    const moved = yield* Dam.moveMany({ assetIds: most, destinationFolderId: target })
    assert.strictEqual(moved.assets.map(({ asset_id }) => asset_id).join(), most.join())
    assert.strictEqual((yield* Dam.deleteMany({ assetIds: most })).assets.length, 500)
    assert.deepStrictEqual(yield* pathsUnder("most/"), ["most/500"])
  })

  it.effect("stay as they are if one of them is unknown, deleted or listed twice", function* () {
    const [first, second, third] = yield* storeAll("kept", ["a", "b", "c"])
    yield* Dam.delete(third)
    const cases = [
      [[first, nobody, second], 404, "DAM_RESOURCE_NOT_FOUND", "asset_ids.1"],
      [[first, second, third], 404, "DAM_RESOURCE_NOT_FOUND", "asset_ids.2"],
      [[first, second, first], 400, "DAM_INVALID_REQUEST", "asset_ids.2"],
      [[first, "__proto__"], 400, "DAM_INVALID_REQUEST", "asset_ids.1"]
    ] as const
    for (const [asset_ids, status, error, field] of cases) {
      for (const path of ["/dam/assets/bulk/move", "/dam/assets/bulk/delete"]) {
        const answer = yield* call("POST", path, { asset_ids, destination_folder_id: null })
        assert.match(refused(answer, status, error), new RegExp(`^${field}: `))
      }
      assert.deepStrictEqual(yield* pathsUnder("kept/"), ["kept/a", "kept/b"])
    }
  })

  it.effect("stay as they are if a name is taken, two have the same name, or the folder is not there", function* () {
    const [a, b] = yield* storeAll("taken/from", ["a", "b"])
    const [other] = yield* storeAll("taken/other", ["a"])
    yield* storeAll("taken/to", ["b"])
    yield* storeOne("taken/folders/b/c")
    const target = yield* folderOf(yield* storeOne("taken/to/there"), "there")
    const withFolder = yield* folderOf(yield* storeOne("taken/folders/there"), "there")
    const before = yield* pathsUnder("taken/")
    const cases = [
      [[a, b], target, "DamMutationConflict", "asset_ids.1: "],
      [[a, b], withFolder, "DamMutationConflict", "asset_ids.1: "],
      [[b, a, other], null, "DamMutationConflict", "asset_ids.2: "],
      [[a, b], Identifier.FolderId.make(nobody), "DamResourceNotFound", "destination_folder_id: "]
    ] as const
    for (const [ids, destinationFolderId, tag, message] of cases) {
      const error = yield* Effect.flip(Dam.moveMany({ assetIds: ids, destinationFolderId }))
      assert.strictEqual(error._tag, tag)
      assert.include(error.message, message)
      assert.deepStrictEqual(yield* pathsUnder("taken/"), before)
    }
  })

  it.effect("stay as they are if the path of one of them becomes too long", function* () {
    const ids = yield* storeAll("long", ["short", "n".repeat(250)])
    const deep = yield* folderOf(yield* storeOne(`${"d".repeat(200)}/${"e".repeat(200)}/there`), "there")
    const error = yield* Effect.flip(Dam.moveMany({ assetIds: ids, destinationFolderId: deep }))
    assert.strictEqual(error._tag, "DamInvalidRequest")
    assert.include(error.message, "asset_ids.1: ")
    assert.deepStrictEqual(yield* pathsUnder("long/"), ["long/short", `long/${"n".repeat(250)}`])
  })
})

const main = "main"

/** The paths of all assets of the Workspace, and the number of its folders. */
const state = Effect.gen(function* () {
  const dam = yield* DamStore.make
  const sql = yield* SqlClient.SqlClient
  const { assets } = yield* dam.list({ workspace: main, prefix: "", cursor: undefined, limit: 1000 })
  return { paths: assets.map(({ path }) => path), folders: yield* sql`SELECT count(*) FROM folders`.values }
})

type Change = (
  ids: ReadonlyArray<Identifier.AssetId>,
  folder: Identifier.FolderId | null
) => Effect.Effect<unknown, object, Effect.Services<typeof DamStore.make>>

describe("A failure in the middle of a change", () => {
  const changes: Readonly<Record<string, Change>> = {
    moveMany: (assetIds, destinationFolderId) =>
      Effect.flatMap(DamStore.make, (dam) => dam.moveMany({ workspace: main, assetIds, destinationFolderId })),
    remove: (ids) => Effect.flatMap(DamStore.make, (dam) => dam.remove(main, ids)),
    // This move creates folders before it moves the asset.
    moveEntry: () =>
      Effect.flatMap(DamStore.make, (dam) =>
        dam.moveEntry({ workspace: main, source: "from/50", destination: "new/folders/for/it" })
      )
  }

  const target = Effect.gen(function* () {
    const dam = yield* DamStore.make
    const { id } = yield* put("target/there")
    const there = yield* dam.move({ workspace: main, assetId: id, filename: "there", destinationFolderId: undefined })
    return there.folder_id
  })
  live.each(Object.entries(changes))(
    "of the disk keeps nothing of it, and is a typed error (%s)",
    function* ([, change]) {
      const path = `${yield* temporaryFolder}/test.sqlite`
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ids = yield* Effect.forEach(Array(200), (_, index) => Effect.map(put(`from/${index}`), ({ id }) => id))
        const folder = yield* target
        // The trigger makes the change write 200 kB to this table, so that the database is full during the change.
        yield* sql`CREATE TABLE journal (text TEXT NOT NULL) STRICT`
        yield* sql`
        CREATE TRIGGER large AFTER UPDATE ON assets WHEN old.filename = '50'
        BEGIN INSERT INTO journal VALUES (hex(zeroblob(100000))); END`
        const before = yield* state
        const [used] = yield* sql`PRAGMA page_count`
        const limit = (most: unknown) => sql`PRAGMA max_page_count = ${sql.literal(String(most))}`
        yield* limit(used?.["page_count"])
        assert.deepInclude(yield* Effect.flip(change(ids, folder)), { _tag: "StorageFailed", reason: "Full" })
        assert.deepStrictEqual(yield* state, before)
        yield* limit(1_000_000)
        yield* change(ids, folder)
        assert.notDeepEqual(yield* state, before)
      }).pipe(Effect.provide(layerStore(path)))
    }
  )
})

effect("work that is repeated after a crash does not bring back a deleted asset", layerStore(), function* () {
  const dam = yield* DamStore.make
  const { id, version } = yield* put("file", { madeBy: "a Step" })
  yield* dam.remove(main, [id])
  assert.deepStrictEqual(yield* put("file", { madeBy: "a Step" }), { id, version })
  assert.deepStrictEqual((yield* state).paths, [])
  assert.notStrictEqual((yield* put("file", { madeBy: "another Step" })).id, id)
})
