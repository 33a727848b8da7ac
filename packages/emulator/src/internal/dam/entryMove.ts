import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as DamStatements from "./damStatements.ts"
import * as Paths from "./paths.ts"
import { refuse, type Refused } from "./refused.ts"
import * as Storing from "./storing.ts"

/** A request to move an asset or a folder. Both paths are complete, and their names are valid. */
export interface MoveEntry {
  readonly workspace: string
  readonly source: string
  readonly destination: string
}

/** Splits a path into the names of its folders and the name of the entry. */
const namesOf = (path: string) => {
  const names = path.split("/")
  return { folders: names.slice(0, -1), name: names.at(-1) ?? "" }
}

/** The folders above an entry, from the root. */
export const foldersOf = (path: string): ReadonlyArray<string> => namesOf(Paths.withoutSlash(path)).folders

/** Finds the parent folder of an entry. Refuses a path with an unknown folder. */
const placeOf = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  workspace: string,
  path: string
): Effect.fn.Return<DamStatements.Place, Refused | StorageFailed> {
  const { folders, name: last } = namesOf(path)
  let folder_id: string | null = null
  for (const name of folders) {
    const folder: Option.Option<DamStatements.FolderRow> = yield* sql.folderAt({ workspace, folder_id, name })
    if (Option.isNone(folder)) return yield* refuse("EntryNotFound", ["source"])
    folder_id = folder.value.id
  }
  return { workspace, folder_id, name: last }
})

/**
 * Moves an asset, or a folder with everything in it. Missing folders of the destination are created, as they are for a
 * new file. An entry that exists at the destination is never replaced. Returns the new path.
 */
export const moveEntry = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  { workspace, ...asked }: MoveEntry,
  folderIds: ReadonlyArray<string>,
  now: number
): Effect.fn.Return<string, Refused | StorageFailed> {
  const source = Paths.withoutSlash(asked.source)
  const destination = Paths.withoutSlash(asked.destination)
  const from = yield* placeOf(sql, workspace, source)
  const folder = yield* sql.folderAt(from)
  const asset = yield* sql.assetAt(from)
  if (Option.isNone(folder) && Option.isNone(asset)) return yield* refuse("EntryNotFound", ["source"])
  if (source === destination) return destination
  if (Option.isSome(folder) && destination.startsWith(`${source}/`)) return yield* refuse("IntoItself", ["destination"])

  const { folders, name } = namesOf(destination)
  const folder_id = yield* Storing.ensureFolder(sql, workspace, folders, folderIds)
  if ((yield* sql.taken(workspace, folder_id, [name], [])).size > 0) return yield* refuse("NameTaken", ["destination"])

  if (Option.isSome(folder)) {
    yield* sql.updateFolder(folder.value.id, { workspace, folder_id, name })
    // The limits of a path also apply to every path in the moved folder. A refusal undoes the move.
    const isTooLong = Paths.isLongestTooLong(yield* sql.longestPath(workspace, folder.value.id))
    if (isTooLong) return yield* refuse("PathTooLong", ["destination"])
  } else if (Option.isSome(asset)) {
    yield* sql.update([asset.value.id], { folder_id, filename: name, updated_at: now })
  }
  return destination
})
