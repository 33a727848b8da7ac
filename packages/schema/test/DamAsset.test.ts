import { DamAsset, Identifier } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { accepted, accepts, onDecode, onEncode } from "./support.ts"

const id = "0123456789_-abcdefABCA"
const asset = {
  asset_id: id,
  version_id: id,
  workspace: "my-workspace",
  path: "/folder/a.jpg",
  mime: "image/jpeg",
  size: 1024
}
const moved = {
  ok: "DAM_ASSET_MOVED",
  message: "The asset was moved.",
  asset,
  asset_id: id,
  folder_id: null,
  filename: "a.jpg",
  path: "/folder/a.jpg",
  deleted_at: null,
  updated_at: "2026-01-01T10:00Z"
}

describe("Asset", () => {
  it("keeps unknown fields in both directions (spec R-17)", () => {
    const more = { ...asset, added: { deep: [1, null] } }
    const decoded = Schema.decodeUnknownSync(DamAsset.Asset)(more)
    assert.deepStrictEqual(decoded as object, more)
    assert.deepStrictEqual(Schema.encodeSync(DamAsset.Asset)(decoded) as object, more)
  })
})

describe("Moved", () => {
  it("has null for the root and for an asset that is not deleted (spec R-26)", () => {
    assert.isTrue(accepts(DamAsset.Moved, moved))
    assert.isTrue(accepts(DamAsset.Moved, { ...moved, folder_id: id, deleted_at: "2026-01-01T10:00:00.5Z" }))
    assert.isFalse(accepts(DamAsset.Moved, { ...moved, updated_at: null }))
  })

  it("tolerates an added field, and refuses it in strict form except inside the asset (spec R-24, V-2)", () => {
    const added = { ...moved, added: 1 }
    const inAsset = { ...moved, asset: { ...asset, added: 1 } }
    assert.deepStrictEqual(accepted(DamAsset.Moved, [moved, added, inAsset]), [moved, added, inAsset])
    assert.deepStrictEqual(accepted(DamAsset.MovedStrict, [moved, added, inAsset]), [moved, inAsset])
  })
})

describe("Filename", () => {
  const decode = Schema.decodeUnknownSync(DamAsset.Filename)
  const encode = Schema.encodeSync(DamAsset.Filename)

  it("is normalised to NFC in both directions, and keeps its case (spec O-24)", () => {
    assert.strictEqual(decode("e\u0301.txt"), "\u00e9.txt")
    assert.strictEqual(encode("e\u0301.txt"), "\u00e9.txt")
    assert.strictEqual(decode(" A.PDF "), " A.PDF ")
  })

  it("reports every broken rule", () => {
    assert.deepStrictEqual(onEncode(DamAsset.Filename, "a/\u0001\ud800"), [
      "Expected a name without slash or backslash",
      "Expected a name without control characters",
      "Expected a name in valid Unicode"
    ])
  })
})

describe("MoveRequest", () => {
  const folder = Identifier.FolderId.make(id)
  const encode = Schema.encodeSync(DamAsset.MoveRequest)
  const decode = Schema.decodeUnknownSync(DamAsset.MoveRequest)

  it("keeps an absent, a null and a named folder apart (spec T-4, O-28, O-30)", () => {
    for (const [request, wire] of [
      [{ filename: "a" }, { filename: "a" }],
      [
        { filename: "a", destinationFolderId: null },
        { filename: "a", destination_folder_id: null }
      ],
      [
        { filename: "a", destinationFolderId: folder },
        { filename: "a", destination_folder_id: id }
      ],
      [{ destinationFolderId: null }, { destination_folder_id: null }],
      [{ destinationFolderId: folder }, { destination_folder_id: id }]
    ] as const) {
      assert.deepStrictEqual(JSON.stringify(encode(request)), JSON.stringify(wire))
      assert.deepStrictEqual(decode(wire), request)
    }
  })

  it("treats undefined neither as absent nor as null (spec O-30)", () => {
    assert.isFalse(accepts(DamAsset.MoveRequest, { filename: "a", destination_folder_id: undefined }))
    assert.deepStrictEqual(onEncode(DamAsset.MoveRequest, { filename: undefined, destinationFolderId: null }), [
      "filename: Expected string"
    ])
  })

  it("refuses unknown keys without a parse option, together with all other issues (spec O-23, O-31)", () => {
    assert.deepStrictEqual(onEncode(DamAsset.MoveRequest, { filename: "..", destinationFolderId: "x", path: "/" }), [
      "filename: Expected a name other than . and ..",
      "destinationFolderId: Expected 22 characters of Base64URL, the last one A, Q, g or w",
      "path: Unknown key, expected one of filename, destinationFolderId"
    ])
    assert.deepStrictEqual(onDecode(DamAsset.MoveRequest, { filename: "a", destinationFolderId: null }), [
      "destinationFolderId: Unknown key, expected one of filename, destination_folder_id"
    ])
    assert.isFalse(Schema.is(DamAsset.MoveRequest)({ filename: "a", other: 1 }))
  })
})
