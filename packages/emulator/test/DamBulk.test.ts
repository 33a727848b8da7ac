/** Tests that a change of many assets changes all of the assets or none. */
import { Dam } from "@assembly-effect/api"
import { DamAsset, Identifier } from "@assembly-effect/schema"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as DamStore from "../src/internal/dam/damStore.ts"
import * as Statement from "../src/internal/data/statement.ts"
import { layerStore, nobody, put, storeAll, storeOne } from "./assets.ts"
import { call } from "./signedCalls.ts"
import { json, layer as layerEmulator } from "./support.ts"
import { assert, describe, effect, layer, live } from "@assembly-effect/testkit/flow"

const filename = Schema.decodeSync(DamAsset.Filename)

const pathsUnder = (prefix: string) =>
  Effect.map(Stream.runCollect(Dam.listAll({ prefix })), (assets) => Array.from(assets, ({ path }) => path))

/** The id of the folder of an asset. */
const folderOf = (assetId: Identifier.AssetId, name: string) =>
  Effect.map(
    Dam.move(assetId, { filename: filename(name) }),
    ({ folder_id }) => folder_id ?? assert.fail("the asset is in the root")
  )

layer(layerEmulator())("Many assets", (it) => {
  it.effect("are moved to a folder, and to the root", function* () {
    const [a, b] = yield* storeAll("move/from", ["a", "b"])
    const target = yield* folderOf(yield* storeOne("move/to/there"), "there")
    const [first, second] = [a ?? assert.fail(), b ?? assert.fail()]
    const moved = yield* Dam.moveMany({ assetIds: [second, first], destinationFolderId: target })
    assert.strictEqual(moved.ok, "DAM_ASSETS_MOVED")
    assert.deepStrictEqual(
      moved.assets.map(({ asset, asset_id, deleted_at, filename: name, folder_id, path }) => ({
        ids: [asset.asset_id, asset_id],
        paths: [asset.path, path],
        name,
        folder_id,
        deleted_at
      })),
      [
        { ids: [second, second], paths: ["move/to/b", "move/to/b"], name: "b", folder_id: target, deleted_at: null },
        { ids: [first, first], paths: ["move/to/a", "move/to/a"], name: "a", folder_id: target, deleted_at: null }
      ]
    )
    assert.strictEqual((yield* Dam.get(first)).asset.path, "move/to/a")
    // One of the assets is already in the root.
    yield* Dam.move(first, { destinationFolderId: null, filename: filename("bulk a") })
    const rooted = yield* Dam.moveMany({ assetIds: [first, second], destinationFolderId: null })
    assert.deepStrictEqual(
      rooted.assets.map(({ folder_id, path }) => [folder_id, path]),
      [
        [null, "bulk a"],
        [null, "b"]
      ]
    )
  })
  it.effect("up to 500 are changed at once", function* () {
    const ids = yield* storeAll(
      "most",
      Array.from({ length: 501 }, (_, index) => `${index}`)
    )
    const target = yield* folderOf(yield* storeOne("target of most/there"), "there")
    const most = ids.slice(0, 500)
    const moved = yield* Dam.moveMany({ assetIds: most, destinationFolderId: target })
    assert.deepStrictEqual(
      moved.assets.map(({ asset_id }) => asset_id),
      most
    )
    assert.strictEqual((yield* Dam.deleteMany({ assetIds: most })).assets.length, 500)
    assert.deepStrictEqual(yield* pathsUnder("most/"), ["most/500"])
  })

  it.effect("stay as they are if one of them is unknown, deleted or listed twice", function* () {
    const ids = yield* storeAll("kept", ["a", "b", "c"])
    const [first = "", second = "", third = ""] = ids
    yield* Dam.delete(ids[2] ?? assert.fail())
    const cases = [
      [[first, nobody, second], 404, "DAM_RESOURCE_NOT_FOUND", "asset_ids.1"],
      [[first, second, third], 404, "DAM_RESOURCE_NOT_FOUND", "asset_ids.2"],
      [[first, second, first], 400, "DAM_INVALID_REQUEST", "asset_ids.2"],
      [[first, "__proto__"], 400, "DAM_INVALID_REQUEST", "asset_ids.1"]
    ] as const
    for (const [asset_ids, status, error, field] of cases) {
      for (const path of ["/dam/assets/bulk/move", "/dam/assets/bulk/delete"]) {
        const answer = yield* call("POST", path, { asset_ids, destination_folder_id: null })
        assert.strictEqual(answer.status, status)
        assert.deepInclude(json(answer), { error, http_code: status })
        assert.isTrue(String(json(answer)["message"]).startsWith(`${field}: `), answer.text)
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
    const assetIds = (...ids: ReadonlyArray<Identifier.AssetId | undefined>) => ids.map((id) => id ?? assert.fail())
    const cases = [
      [assetIds(a, b), target, "DamMutationConflict", "asset_ids.1: "],
      [assetIds(a, b), withFolder, "DamMutationConflict", "asset_ids.1: "],
      [assetIds(b, a, other), null, "DamMutationConflict", "asset_ids.2: "],
      [assetIds(a, b), Identifier.FolderId.make(nobody), "DamResourceNotFound", "destination_folder_id: "]
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
  const dam = yield* DamStore.DamStore
  const sql = yield* SqlClient.SqlClient
  const { assets } = yield* dam.list({ workspace: main, prefix: "", cursor: undefined, limit: 1000 })
  return { paths: assets.map(({ path }) => path), folders: yield* sql`SELECT count(*) FROM folders`.values }
})

describe("A failure in the middle of a change", () => {
  const cases = ["moveMany", "remove", "moveEntry"] as const

  const changeOf = Effect.fnUntraced(function* (
    name: (typeof cases)[number],
    ids: ReadonlyArray<Identifier.AssetId>,
    folder: Identifier.FolderId | null
  ) {
    const dam = yield* DamStore.DamStore
    switch (name) {
      case "moveMany":
        return yield* Effect.asVoid(dam.moveMany({ workspace: main, assetIds: ids, destinationFolderId: folder }))
      case "remove":
        return yield* Effect.asVoid(dam.remove(main, ids))
      case "moveEntry":
        // This move creates folders before it moves the asset.
        return yield* Effect.asVoid(
          dam.moveEntry({ workspace: main, source: "from/50", destination: "new/folders/for/it" })
        )
    }
  })

  const target = Effect.gen(function* () {
    const dam = yield* DamStore.DamStore
    const { id } = yield* put("target/there")
    const there = yield* dam.move({ workspace: main, assetId: id, filename: "there", destinationFolderId: undefined })
    return there.folder_id
  })
  live.each(cases)(
    "of the disk keeps nothing of it, and is a typed error (%s)",
    NodeFileSystem.layer,
    function* (name) {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/test.sqlite`
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const stored = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, index) => `from/${index}`),
          (file) => put(file)
        )
        const ids = stored.map(({ id }) => id)
        const folder = yield* target
        // The trigger makes the change write 200 kB to this table, so that the database is full during the change.
        yield* sql`CREATE TABLE journal (text TEXT NOT NULL) STRICT`
        yield* sql`
          CREATE TRIGGER large AFTER UPDATE ON assets WHEN old.filename = '50'
          BEGIN INSERT INTO journal VALUES (hex(zeroblob(100000))); END`
        const before = yield* state
        const { page_count } = yield* Statement.rows(Schema.Struct({ page_count: Schema.Int })).one(
          sql`PRAGMA page_count`
        )
        const limit = (most: number) => Statement.run(sql`PRAGMA max_page_count = ${sql.literal(String(most))}`)
        yield* limit(page_count)
        const error = yield* Effect.flip(changeOf(name, ids, folder))
        assert.deepInclude(error, { _tag: "StorageFailed", reason: "Full" })
        assert.deepStrictEqual(yield* state, before)
        yield* limit(1_000_000)
        yield* changeOf(name, ids, folder)
        assert.notDeepEqual(yield* state, before)
      }).pipe(Effect.provide(layerStore(path)))
    }
  )
})

effect("work that is repeated after a crash does not bring back a deleted asset", layerStore(), function* () {
  const dam = yield* DamStore.DamStore
  const { id, version } = yield* put("file", { madeBy: "a Step" })
  yield* dam.remove(main, [id])
  assert.deepStrictEqual(yield* put("file", { madeBy: "a Step" }), { id, version })
  assert.deepStrictEqual((yield* state).paths, [])
  assert.notStrictEqual((yield* put("file", { madeBy: "another Step" })).id, id)
})
