import * as Dam from "@assembly-effect/api/Dam"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import { hmac, json, layer as layerEmulator, send, storeAt, uploadOne } from "./support.ts"

const filename = Schema.decodeSync(DamAsset.Filename)
const nobody = "AAAAAAAAAAAAAAAAAAAAAA"

/** Stores a file and answers the id of its asset. */
const store = Effect.fnUntraced(function* (path: string) {
  const status = yield* uploadOne({ steps: storeAt(path) }, new TextEncoder().encode(path))
  return Schema.decodeUnknownSync(Identifier.AssetId)(status.results?.["stored"]?.[0]?.asset_id)
})

let nonce = 0

/** Sends params that our client would refuse. */
const move = Effect.fnUntraced(function* (assetId: string, params: object) {
  const { credentials } = yield* Emulator.Emulator
  const auth = { key: credentials.key, expires: "2999-01-01T00:00:00Z" }
  const body = JSON.stringify({ auth, nonce: nonce++, ...params })
  const form = { params: body, signature: hmac(body, credentials.secret) }
  return yield* send(HttpClientRequest.patch(`/dam/assets/${assetId}`).pipe(HttpClientRequest.bodyUrlParams(form)))
})

layer(layerEmulator(), { excludeTestServices: true })("Moving an asset", (it) => {
  it.effect("renames it where it is", () =>
    Effect.gen(function* () {
      const assetId = yield* store("reports/2026/old.txt")
      const moved = yield* Dam.move(assetId, { filename: filename("e\u0301té.txt") })
      assert.deepInclude(moved, {
        asset_id: assetId,
        filename: "été.txt",
        path: "reports/2026/été.txt",
        deleted_at: null
      })
      assert.deepInclude(moved.asset, { asset_id: assetId, path: moved.path, size: 20 })
      assert.isNotNull(moved.folder_id)
    })
  )

  it.effect("moves it to a folder, to the root, or keeps its folder", () =>
    Effect.gen(function* () {
      const there = yield* Dam.move(yield* store("target/there.txt"), { filename: filename("there.txt") })
      const assetId = yield* store("source/file.txt")

      const toFolder = yield* Dam.move(assetId, { destinationFolderId: there.folder_id })
      assert.deepInclude(toFolder, { path: "target/file.txt", folder_id: there.folder_id })
      const kept = yield* Dam.move(assetId, { filename: filename("other.txt") })
      assert.deepInclude(kept, { path: "target/other.txt", folder_id: there.folder_id })
      const toRoot = yield* Dam.move(assetId, { destinationFolderId: null })
      assert.deepInclude(toRoot, { path: "other.txt", folder_id: null })
      const both = yield* Dam.move(assetId, { filename: filename("both.txt"), destinationFolderId: there.folder_id })
      assert.strictEqual(both.path, "target/both.txt")
      // Where it already is.
      assert.strictEqual((yield* Dam.move(assetId, { filename: filename("both.txt") })).path, "target/both.txt")
    })
  )

  it.effect("answers 404 for an asset or a folder that is not there", () =>
    Effect.gen(function* () {
      const assetId = yield* store("lost.txt")
      const noAsset = yield* Effect.flip(Dam.move(Identifier.AssetId.make(nobody), { destinationFolderId: null }))
      const folder = Identifier.FolderId.make(nobody)
      const noFolder = yield* Effect.flip(Dam.move(assetId, { destinationFolderId: folder }))
      assert.deepInclude(noAsset, { _tag: "DamResourceNotFound", status: 404 })
      assert.deepInclude(noFolder, { _tag: "DamResourceNotFound", status: 404 })
    })
  )

  it.effect("answers 409 for a name that is taken", () =>
    Effect.gen(function* () {
      const assetId = yield* store("taken/a.txt")
      yield* store("taken/b.txt")
      yield* store("taken/folder/c.txt")
      for (const name of ["b.txt", "folder"]) {
        const conflict = yield* Effect.flip(Dam.move(assetId, { filename: filename(name) }))
        assert.deepInclude(conflict, { _tag: "DamMutationConflict", status: 409 })
      }
      assert.strictEqual((yield* Dam.move(assetId, { filename: filename("B.txt") })).path, "taken/B.txt")
    })
  )

  it.effect("answers 400 for the rest", () =>
    Effect.gen(function* () {
      const assetId = yield* store("rules.txt")
      const broken: ReadonlyArray<object> = [
        {},
        { filename: "" },
        { filename: "a/b" },
        { filename: ".." },
        { filename: "x".repeat(256) },
        { filename: "\ud800" },
        { filename: "a", more: true },
        { filename: null },
        { destination_folder_id: "short" },
        { destination_folder_id: `${"A".repeat(21)}B` }
      ]
      for (const params of broken) {
        const answer = yield* move(assetId, params)
        assert.deepInclude(json(answer), { error: "DAM_INVALID_REQUEST", http_code: 400 }, JSON.stringify(params))
      }
      assert.deepInclude(json(yield* move("no-identifier", { filename: "a" })), { error: "DAM_INVALID_REQUEST" })
    })
  )

  it.effect("limits the path to 512 code points and 1024 bytes", () =>
    Effect.gen(function* () {
      // A folder of 253 characters: 253 + 1 + 255 + separator is within 512 code points.
      const assetId = yield* store(`${"d".repeat(253)}/${"e".repeat(200)}/x`)
      const within = yield* Dam.move(assetId, { filename: filename("f".repeat(57)) })
      assert.strictEqual([...within.path].length, 512)
      const long = yield* Effect.flip(Dam.move(assetId, { filename: filename("f".repeat(58)) }))
      assert.deepInclude(long, { _tag: "DamInvalidRequest", status: 400 })

      const wide = yield* store(`${"\u{1f600}".repeat(200)}/x`)
      const bytes = yield* Effect.flip(Dam.move(wide, { filename: filename("\u{1f600}".repeat(56)) }))
      assert.deepInclude(bytes, { _tag: "DamInvalidRequest", status: 400 })
      assert.strictEqual((yield* Dam.move(wide, { filename: filename("\u{1f600}".repeat(55)) })).asset_id, wide)
    })
  )
})
