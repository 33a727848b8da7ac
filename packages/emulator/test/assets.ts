/** Assets for the tests of the DAM, over HTTP and in the store itself. */
import { Dam } from "@assembly-effect/api"
import { type DamAsset, Identifier } from "@assembly-effect/schema"
import { assert } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import * as DamStore from "../src/internal/dam/damStore.ts"
import { signedForm } from "./notified.ts"
import { layerData } from "./stores.ts"
import { json, storeAt } from "./support.ts"

/** An identifier that no asset, version or folder has. */
export const nobody = "AAAAAAAAAAAAAAAAAAAAAA"

const decodeIds = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ asset_id: Identifier.AssetId })))

const stored = Effect.fnUntraced(function* (path: string, files: ReadonlyArray<File>) {
  const { ok, results } = json(yield* signedForm("/assemblies", { steps: storeAt(path) }, files))
  assert.strictEqual(ok, "ASSEMBLY_COMPLETED")
  return decodeIds(Object(results)["stored"]).map(({ asset_id }) => asset_id)
})

/** Stores files with these names in a folder; the empty text is the root. Returns the ids in the order of the names. */
export const storeAll = <const Names extends ReadonlyArray<string>>(folder: string, names: Names) =>
  Effect.map(
    stored(
      `${folder}/\${file.name}`,
      names.map((name) => new File([name], name))
    ),
    (ids) => ids as unknown as { readonly [Key in keyof Names]: Identifier.AssetId }
  )

/** Stores one file. */
export const storeOne = (path: string) =>
  Effect.map(stored(path, [new File([path], "file")]), ([id]) => id ?? assert.fail("nothing is stored"))

export const pathsOf = (assets: Iterable<DamAsset.Asset>) => Array.from(assets, ({ path }) => path)

export const pathsUnder = (prefix: string) => Effect.map(Stream.runCollect(Dam.listAll({ prefix })), pathsOf)

/** The id of the folder of an asset that has this name. */
export const folderOf = (assetId: Identifier.AssetId, filename: string) =>
  Effect.map(Dam.move(assetId, { filename }), ({ folder_id }) => folder_id ?? assert.fail("the asset is in the root"))

/** The store of the DAM over a database. */
export const layerStore = layerData

let works = 0

/** Stores an asset without an Assembly. */
export const put = Effect.fnUntraced(function* (path: string, options: { workspace?: string; madeBy?: string } = {}) {
  const dam = yield* DamStore.make
  const names = path.split("/")
  const { asset_id, version_id } = yield* dam.store({
    workspace: options.workspace ?? "main",
    folders: names.slice(0, -1),
    filename: names.at(-1) ?? "",
    blob: "blob",
    madeBy: options.madeBy ?? `work ${works++}`,
    mime: null,
    digest: { size: 1, md5hash: "0".repeat(32), sha256: "0".repeat(64) }
  })
  return { id: asset_id, version: version_id }
})
