import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import type * as Identifier from "@assembly-effect/schema/Identifier"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as DamStatements from "./damStatements.ts"
import * as ListedAssets from "./listedAssets.ts"
import * as Paths from "./paths.ts"
import { refuse, type Refused } from "./refused.ts"

/**
 * A request to move or rename an asset. An undefined `filename` or `destinationFolderId` keeps the current value. The
 * folder `null` is the root.
 */
export interface Move {
  readonly workspace: string
  readonly assetId: Identifier.AssetId
  readonly filename: string | undefined
  readonly destinationFolderId: Identifier.FolderId | null | undefined
}

/** A request to move many assets to one folder, or to the root. */
export interface MoveMany {
  readonly workspace: string
  readonly assetIds: ReadonlyArray<Identifier.AssetId>
  readonly destinationFolderId: Identifier.FolderId | null
}

/** An asset with its folder and filename. */
export interface Placed {
  readonly asset: DamAsset.Asset
  readonly folderId: Identifier.FolderId | null
  readonly filename: string
  readonly updatedAt: DateTime.Utc
}

/** Finds a folder by its id. The id null is the root, for which the result is undefined. */
const folderAt = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  workspace: string,
  id: Identifier.FolderId | null
): Effect.fn.Return<DamStatements.FolderRow | undefined, Refused | StorageFailed> {
  if (id === null) return undefined
  const found = yield* sql.folder(workspace, id)
  return Option.isSome(found) ? found.value : yield* refuse("FolderNotFound", ["destination_folder_id"])
})

const placed = (row: DamStatements.AssetRow, to: Omit<Placed, "asset"> & { readonly path: string }): Placed => ({
  asset: DamStatements.toAsset({ ...row, path: to.path }),
  folderId: to.folderId,
  filename: to.filename,
  updatedAt: to.updatedAt
})

export const move = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  { assetId, destinationFolderId, workspace, ...asked }: Move,
  now: DateTime.Utc
): Effect.fn.Return<Placed, Refused | StorageFailed> {
  const found = yield* sql.asset(workspace, assetId)
  if (Option.isNone(found)) return yield* refuse("AssetNotFound")
  const folderId = destinationFolderId === undefined ? found.value.folder_id : destinationFolderId
  const folder = yield* folderAt(sql, workspace, folderId)
  const filename = asked.filename ?? found.value.filename
  const path = Paths.join(folder, filename)
  if (Paths.isTooLong(path)) return yield* refuse("PathTooLong")
  if ((yield* sql.taken(workspace, folderId, [filename], [assetId])).size > 0) return yield* refuse("NameTaken")

  yield* sql.update([assetId], { folder_id: folderId, filename, updated_at: now.epochMilliseconds })
  return placed(found.value, { folderId, filename, path, updatedAt: now })
})

/**
 * Moves all assets or none. Two assets with the same name are refused, because one folder cannot contain both.
 */
export const moveMany = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  { assetIds, destinationFolderId: folderId, workspace }: MoveMany,
  now: DateTime.Utc
): Effect.fn.Return<ReadonlyArray<Placed>, Refused | StorageFailed> {
  const rows = yield* ListedAssets.find(sql, workspace, assetIds)
  const folder = yield* folderAt(sql, workspace, folderId)
  const moves = rows.map((row) => ({ row, path: Paths.join(folder, row.filename) }))
  const long = moves.findIndex(({ path }) => Paths.isTooLong(path))
  if (long !== -1) return yield* refuse("PathTooLong", ["asset_ids", long])
  const names = rows.map(({ filename }) => filename)
  const taken = yield* sql.taken(workspace, folderId, names, assetIds)
  const conflict = ListedAssets.firstRepeated(names) ?? names.findIndex((name) => taken.has(name))
  if (conflict !== -1) return yield* refuse("NameTaken", ["asset_ids", conflict])

  yield* sql.update(assetIds, { folder_id: folderId, updated_at: now.epochMilliseconds })
  return moves.map(({ path, row }) => placed(row, { folderId, filename: row.filename, path, updatedAt: now }))
})
