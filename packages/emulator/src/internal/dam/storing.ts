import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as FileStore from "../files/fileStore.ts"
import * as DamStatements from "./damStatements.ts"
import { refuse, type Refused } from "./refused.ts"

/** A file to store as an asset. `blob` is the id of the blob that contains the bytes. */
export interface New {
  readonly workspace: string
  readonly folders: ReadonlyArray<string>
  readonly filename: string
  readonly blob: string
  /**
   * The id of the work that stores the file: the Assembly, the Step, and the index of the file. If this work has
   * already stored a version, nothing is stored.
   */
  readonly madeBy: string
  readonly mime: string | null
  readonly digest: FileStore.Digest
}

/** The ids of the rows that may be inserted. There is an id for each folder of the path. */
interface Fresh {
  readonly assetId: string
  readonly versionId: string
  readonly folderIds: ReadonlyArray<string>
}

/** Finds or creates folders. Returns the id of the innermost folder, or null for the root. */
export const ensureFolder = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  workspace: string,
  folders: ReadonlyArray<string>,
  ids: ReadonlyArray<string>
): Effect.fn.Return<string | null, Refused | StorageFailed> {
  let folder_id: string | null = null
  for (const [index, name] of folders.entries()) {
    const place: DamStatements.Place = { workspace, folder_id, name }
    const existing = yield* sql.folderAt(place)
    if (Option.isSome(existing)) {
      folder_id = existing.value.id
      continue
    }
    if (Option.isSome(yield* sql.assetAt(place))) return yield* refuse("NameTaken")
    folder_id = ids[index] ?? ""
    yield* sql.insertFolder(folder_id, place)
  }
  return folder_id
})

/**
 * Stores a file. If the path already has an asset, the asset gets a new version.
 *
 * If a Step that has already stored the file runs again after a crash, nothing is stored again, even if a client has
 * deleted the asset since.
 */
export const store = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  { blob, digest, filename, folders, madeBy, mime, workspace }: New,
  { assetId, folderIds, versionId }: Fresh,
  now: number
): Effect.fn.Return<DamAsset.Asset, Refused | StorageFailed> {
  const made = yield* sql.madeBy(madeBy)
  if (Option.isSome(made)) return DamStatements.toAsset(made.value)
  const folder_id = yield* ensureFolder(sql, workspace, folders, folderIds)
  const place = { workspace, folder_id, name: filename }
  if (Option.isSome(yield* sql.folderAt(place))) return yield* refuse("NameTaken")

  const existing = yield* sql.assetAt(place)
  const id = Option.isSome(existing) ? existing.value.id : assetId
  const changed = { version_id: versionId, updated_at: now }
  yield* Option.isSome(existing)
    ? sql.update([id], changed)
    : sql.insertAsset(id, place, { ...changed, position: yield* sql.nextPosition(workspace) })
  yield* sql.insertVersion({ id: versionId, asset_id: id, blob, made_by: madeBy, mime, digest, created_at: now })
  return DamStatements.toAsset(Option.getOrThrow(yield* sql.asset(workspace, id)))
})
