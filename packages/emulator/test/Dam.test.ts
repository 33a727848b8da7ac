import { Assemblies, Dam } from "@assembly-effect/api"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { Identifier } from "@assembly-effect/schema"
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { folderOf, nobody, pathsUnder, storeAll, storeOne } from "./assets.ts"
import { call } from "./signedCalls.ts"
import { json, layer as layerEmulator, send, storeAt, uploadOne } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

layer(layerEmulator())("Moving an asset", (it) => {
  it.effect("renames it where it is (spec R-15, T-3, O-20)", function* () {
    const assetId = yield* storeOne("reports/2026/old.txt")
    const moved = yield* Dam.move(assetId, { filename: "e\u0301té.txt" })
    assert.deepInclude(moved, {
      asset_id: assetId,
      filename: "été.txt",
      path: "reports/2026/été.txt",
      deleted_at: null
    })
    assert.deepInclude(moved.asset, { asset_id: assetId, path: moved.path, size: 20 })
    assert.isNotNull(moved.folder_id)
  })

  it.effect("moves it to a folder, to the root, or keeps its folder (spec T-4, O-31)", function* () {
    const there = yield* Dam.move(yield* storeOne("target/there.txt"), { filename: "there.txt" })
    const assetId = yield* storeOne("source/file.txt")

    const toFolder = yield* Dam.move(assetId, { destinationFolderId: there.folder_id })
    assert.deepInclude(toFolder, { path: "target/file.txt", folder_id: there.folder_id })
    const kept = yield* Dam.move(assetId, { filename: "other.txt" })
    assert.deepInclude(kept, { path: "target/other.txt", folder_id: there.folder_id })
    const toRoot = yield* Dam.move(assetId, { destinationFolderId: null })
    assert.deepInclude(toRoot, { path: "other.txt", folder_id: null })
    const both = yield* Dam.move(assetId, { filename: "both.txt", destinationFolderId: there.folder_id })
    assert.strictEqual(both.path, "target/both.txt")
    // The asset already has this path.
    assert.strictEqual((yield* Dam.move(assetId, { filename: "both.txt" })).path, "target/both.txt")
  })

  it.effect("answers 409 for a name that is taken (spec E-14)", function* () {
    const assetId = yield* storeOne("taken/a.txt")
    yield* storeOne("taken/b.txt")
    yield* storeOne("taken/folder/c.txt")
    for (const name of ["b.txt", "folder"]) {
      const conflict = yield* Effect.flip(Dam.move(assetId, { filename: name }))
      assert.deepInclude(conflict, { _tag: "DamMutationConflict", status: 409 })
    }
    assert.strictEqual((yield* Dam.move(assetId, { filename: "B.txt" })).path, "taken/B.txt")
  })

  it.effect("limits the path to 512 code points and 1024 bytes (spec O-32)", function* () {
    // The path of the folder has 253 + 1 + 200 code points. A filename of 57 makes 512 with the separator.
    const assetId = yield* storeOne(`${"d".repeat(253)}/${"e".repeat(200)}/x`)
    const within = yield* Dam.move(assetId, { filename: "f".repeat(57) })
    assert.strictEqual([...within.path].length, 512)
    const long = yield* Effect.flip(Dam.move(assetId, { filename: "f".repeat(58) }))
    assert.deepInclude(long, { _tag: "DamInvalidRequest", status: 400 })

    const wide = yield* storeOne(`${"\u{1f600}".repeat(200)}/x`)
    const bytes = yield* Effect.flip(Dam.move(wide, { filename: "\u{1f600}".repeat(56) }))
    assert.deepInclude(bytes, { _tag: "DamInvalidRequest", status: 400 })
    assert.strictEqual((yield* Dam.move(wide, { filename: "\u{1f600}".repeat(55) })).asset_id, wide)
  })
})

layer(layerEmulator())("Getting an asset", (it) => {
  it.effect("tells where it is and what it has", function* () {
    const [assetId] = yield* storeAll("get", ["one.txt"])
    const { asset, ok } = yield* Dam.get(assetId)
    assert.strictEqual(ok, "DAM_ASSET_FOUND")
    const known = { asset_id: assetId, workspace: "emulator", path: "get/one.txt", mime: "text/plain", size: 7 }
    assert.deepInclude(asset, known)
    assert.deepStrictEqual((yield* Dam.list({ prefix: "get/" })).assets[0], asset)
  })

  it.effect("finds each of its versions, never another one", function* () {
    const assetId = yield* storeOne("versions/file.txt")
    const first = (yield* Dam.get(assetId)).asset
    assert.strictEqual(yield* storeOne("versions/file.txt"), assetId)
    const second = (yield* Dam.get(assetId)).asset
    assert.notStrictEqual(second.version_id, first.version_id)
    yield* Dam.move(assetId, { filename: "moved.txt" })
    for (const version of [first, second]) {
      const { asset } = yield* Dam.get(assetId, { versionId: version.version_id })
      assert.deepStrictEqual(asset, { ...version, path: "versions/moved.txt" })
    }
    const other = (yield* Dam.get(yield* storeOne("versions/other.txt"))).asset
    for (const versionId of [other.version_id, Identifier.VersionId.make(nobody)]) {
      const error = yield* Effect.flip(Dam.get(assetId, { versionId }))
      assert.deepInclude(error, { _tag: "DamResourceNotFound", status: 404 })
      assert.include(error.message, "version_id: ")
    }
  })

  it.effect("answers 400 for what is no id", function* () {
    for (const path of ["short", `${"A".repeat(21)}B`, "__proto__", "..%2F..%2Fa", "%00", "A".repeat(99)]) {
      for (const method of ["GET", "DELETE"] as const) {
        const answer = json(yield* call(method, `/dam/assets/${path}`, {}))
        assert.deepInclude(answer, { error: "DAM_INVALID_REQUEST", http_code: 400 }, `${method} ${path}`)
        assert.match(String(answer["message"]), /^assetId: /)
      }
    }
  })
})

layer(layerEmulator())("A deleted asset", (it) => {
  it.effect("is gone from get, list and every change at once (spec O-22, E-13)", function* () {
    const [assetId, kept] = yield* storeAll("deleted", ["a", "b"])
    const { asset } = yield* Dam.get(assetId)
    const deleted = yield* Dam.delete(assetId)
    assert.deepInclude(deleted, { ok: "DAM_ASSET_DELETED", asset_id: assetId })
    assert.match(deleted.deleted_at.text, /Z$/)
    const gone: ReadonlyArray<Effect.Effect<unknown, object, AssemblyClient>> = [
      Dam.get(Identifier.AssetId.make(nobody)),
      Dam.get(assetId),
      Dam.get(assetId, { versionId: asset.version_id }),
      Dam.move(assetId, { destinationFolderId: null }),
      Dam.moveMany({ assetIds: [kept, assetId], destinationFolderId: null }),
      Dam.moveEntry({ source: "deleted/a", destination: "b" }),
      Dam.delete(assetId),
      Dam.deleteMany({ assetIds: [kept, assetId] })
    ]
    for (const ask of gone) {
      assert.deepInclude(yield* Effect.flip(ask), { _tag: "DamResourceNotFound", status: 404 })
    }
    assert.deepStrictEqual(yield* pathsUnder("deleted/"), ["deleted/b"])
  })

  it.effect("leaves its path to a new asset", function* () {
    const first = yield* storeOne("again/file")
    yield* Dam.delete(first)
    const second = yield* storeOne("again/file")
    assert.notStrictEqual(second, first)
    assert.strictEqual((yield* Dam.get(second)).asset.path, "again/file")
    assert.strictEqual((yield* Effect.flip(Dam.get(first)))._tag, "DamResourceNotFound")
    // The request to delete one asset has no `asset_ids`, so the message does not name them.
    assert.notInclude((yield* Effect.flip(Dam.delete(first))).message, "asset_ids")
  })

  it.effect("leaves its name to a move", function* () {
    const [a, b, c] = yield* storeAll("free", ["a", "b", "c"])
    yield* Dam.deleteMany({ assetIds: [a, b] })
    assert.strictEqual((yield* Dam.move(c, { filename: "a" })).path, "free/a")
    assert.strictEqual((yield* Dam.moveEntry({ source: "free/a", destination: "free/b" })).path, "free/b")
    const [d] = yield* storeAll("other", ["a"])
    const moved = yield* Dam.moveMany({ assetIds: [d], destinationFolderId: yield* folderOf(c, "c") })
    assert.strictEqual(moved.assets[0]?.path, "free/a")
  })

  it.effect("leaves its bytes to the Assembly that stored it, to download and to replay", function* () {
    const bytes = new TextEncoder().encode("the bytes")
    const status = yield* uploadOne({ steps: storeAt("bytes/file") }, bytes)
    const assetId = Schema.decodeUnknownSync(Identifier.AssetId)(status.results?.["stored"]?.[0]?.asset_id)
    yield* Dam.delete(assetId)
    const download = yield* send(HttpClientRequest.get(status.uploads?.[0]?.tus_upload_url ?? ""))
    assert.deepInclude(download, { status: 200, text: "the bytes" })
    const replayed = yield* Assemblies.replay(status.assembly_id)
    yield* Assemblies.awaitCompletion(replayed.assembly_id, { interval: "10 millis" })
    const [asset] = (yield* Dam.list({ prefix: "bytes/" })).assets
    assert.deepInclude(asset, { path: "bytes/file", size: bytes.length })
    assert.notStrictEqual(asset?.asset_id, assetId)
  })
})
