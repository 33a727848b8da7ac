import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { accepted, accepts, onDecode, onEncode, without } from "./support.ts"

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
  it("requires six fields (spec R-16)", () => {
    for (const key of Object.keys(asset)) {
      assert.deepStrictEqual(onDecode(DamAsset.Asset, without(asset, key)), [`${key}: Missing key`])
    }
  })

  it("keeps unknown fields in both directions (spec R-17)", () => {
    const more = { ...asset, added: { deep: [1, null] } }
    const decoded = Schema.decodeUnknownSync(DamAsset.Asset)(more)
    assert.deepStrictEqual(decoded as object, more)
    assert.deepStrictEqual(Schema.encodeSync(DamAsset.Asset)(decoded) as object, more)
  })

  it("may have null as an unknown mime, but needs the field (spec R-18)", () => {
    assert.isTrue(accepts(DamAsset.Asset, { ...asset, mime: null }))
  })

  it("has size, width and height in their bounds (spec R-19)", () => {
    const max = Number.MAX_SAFE_INTEGER
    for (const size of [0, max]) assert.isTrue(accepts(DamAsset.Asset, { ...asset, size }))
    for (const size of [-1, max + 1, 1.5, "1"]) assert.isFalse(accepts(DamAsset.Asset, { ...asset, size }))
    for (const key of ["width", "height"]) {
      for (const pixels of [1, max]) assert.isTrue(accepts(DamAsset.Asset, { ...asset, [key]: pixels }))
      for (const pixels of [0, max + 1, null]) assert.isFalse(accepts(DamAsset.Asset, { ...asset, [key]: pixels }))
    }
  })

  it("has hashes in lowercase only (spec R-21)", () => {
    for (const [key, digits] of [
      ["md5hash", 32],
      ["sha256", 64]
    ] as const) {
      assert.isTrue(accepts(DamAsset.Asset, { ...asset, [key]: "0f".repeat(digits / 2) }))
      for (const bad of ["0F".repeat(digits / 2), "0f".repeat(digits / 2 + 1), "0g".repeat(digits / 2), "", null]) {
        assert.isFalse(accepts(DamAsset.Asset, { ...asset, [key]: bad }), `${key} ${bad}`)
      }
    }
  })

  it("has its thumbhash in padded Base64 of the standard alphabet (spec R-22)", () => {
    for (const thumbhash of ["", "YQ==", "YWI=", "YWJj", "+/+/"]) {
      assert.isTrue(accepts(DamAsset.Asset, { ...asset, thumbhash }), thumbhash)
    }
    for (const thumbhash of ["YQ", "YQ=", "YWI", "-_-_", "Y Q=", "=YQ=", "YQ==\n", null]) {
      assert.isFalse(accepts(DamAsset.Asset, { ...asset, thumbhash }), String(thumbhash))
    }
  })

  it("has has_alpha as a boolean or not at all (spec R-20)", () => {
    assert.deepStrictEqual(onDecode(DamAsset.Asset, { ...asset, has_alpha: null }), ["has_alpha: Expected boolean"])
    assert.isTrue(accepts(DamAsset.Asset, { ...asset, has_alpha: false }))
  })
})

describe("Moved", () => {
  it("requires every field (spec R-23)", () => {
    for (const key of Object.keys(moved)) {
      assert.deepStrictEqual(onDecode(DamAsset.Moved, without(moved, key)), [`${key}: Missing key`])
    }
  })

  it("has null for the root and for an asset that is not deleted (spec R-26)", () => {
    assert.isTrue(accepts(DamAsset.Moved, moved))
    assert.isTrue(accepts(DamAsset.Moved, { ...moved, folder_id: id, deleted_at: "2026-01-01T10:00:00.5Z" }))
    assert.isFalse(accepts(DamAsset.Moved, { ...moved, updated_at: null }))
  })

  it("has no empty message, filename and path (spec R-25)", () => {
    for (const key of ["message", "filename", "path"]) {
      assert.deepStrictEqual(onDecode(DamAsset.Moved, { ...moved, [key]: "" }), [
        `${key}: Expected at least 1 character`
      ])
    }
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

  it("is normalised to NFC in both directions (spec O-24)", () => {
    assert.strictEqual(decode("e\u0301.txt"), "\u00e9.txt")
    assert.strictEqual(encode("e\u0301.txt"), "\u00e9.txt")
  })

  it("refuses white space alone and keeps leading and trailing spaces (spec O-25)", () => {
    assert.deepStrictEqual(accepted(DamAsset.Filename, [" ", "\u00a0", "\u3000 "]), [])
    for (const name of [" a", "a ", "  a  "]) assert.strictEqual(decode(name), name)
  })

  it("reports every broken rule", () => {
    assert.deepStrictEqual(onEncode(DamAsset.Filename, "a/\u0001\ud800"), [
      "Expected a name without slash or backslash",
      "Expected a name without control characters",
      "Expected a name in valid Unicode"
    ])
  })

  it("is case-sensitive (spec O-24)", () => {
    assert.strictEqual(decode("A.PDF"), "A.PDF")
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

  it("refuses what is not an object", () => {
    assert.deepStrictEqual(accepted(DamAsset.MoveRequest, [null, "a", 5, [], undefined]), [])
  })
})
