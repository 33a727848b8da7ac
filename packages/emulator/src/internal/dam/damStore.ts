import type * as DamEntries from "@assembly-effect/schema/DamEntries"
import type * as Identifier from "@assembly-effect/schema/Identifier"
import type { Timestamp } from "@assembly-effect/schema/unstable/Timestamp"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../data/ids.ts"
import * as Statement from "../data/statement.ts"
import type * as FileStore from "../files/fileStore.ts"
import * as DamStatements from "./damStatements.ts"
import * as Listing from "./listing.ts"
import * as Rules from "./rules.ts"

/** A file to store as an asset. `blob` is the id of the blob that contains the bytes. */
interface New {
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

/**
 * A request to move or rename an asset. An undefined `filename` or `destinationFolderId` keeps the current value. The
 * folder `null` is the root.
 */
interface Move {
  readonly workspace: string
  readonly assetId: Identifier.AssetId
  readonly filename: string | undefined
  readonly destinationFolderId: Identifier.FolderId | null | undefined
}

/** Splits a path into the names of its folders and the name of the entry. */
const namesOf = (path: string) => {
  const names = path.split("/")
  return { folders: names.slice(0, -1), name: names.at(-1) ?? "" }
}

/** The index of the first value that is equal to an earlier value. The result is -1 if each value occurs once. */
const firstRepeated = (values: ReadonlyArray<string>): number =>
  values.findIndex((value, index) => values.indexOf(value) < index)

const timestamp = (instant: DateTime.Utc): Timestamp => ({ text: DateTime.formatIso(instant), instant })

/** A moved asset, in the format of the service. */
const moved = (
  row: DamStatements.AssetRow,
  { filename, folder_id, path }: Pick<DamStatements.AssetRow, "filename" | "folder_id" | "path">,
  now: DateTime.Utc
) => ({
  asset: DamStatements.toAsset({ ...row, path }),
  asset_id: row.id,
  folder_id,
  filename,
  path,
  deleted_at: null,
  updated_at: timestamp(now)
})

const cursorKey = Statement.column(Schema.String).one

/**
 * Stores the assets and folders of all Workspaces.
 *
 * Each change is one transaction. Therefore a change is atomic, and concurrent changes run one after the other. The row
 * of a deleted asset stays, because the Step that stored the asset may run again after a crash, and must find the row
 * then. The bytes of an asset belong to the upload of its Assembly and stay with the upload.
 */
export const make = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  const sql = DamStatements.make(client)
  const key = yield* cursorKey(client`SELECT key FROM dam_cursors`)
  const newId = yield* Ids.identifier

  /** Runs a change in one transaction. The change gets the current time. */
  const change = <A, E>(work: (now: DateTime.Utc) => Effect.Effect<A, E>) =>
    Effect.flatMap(DateTime.now, work).pipe(client.withTransaction, Statement.stored)

  const insert = (table: string, row: Readonly<Record<string, string | number | null>>) =>
    Statement.run(client`INSERT INTO ${client.literal(table)} ${client.insert(row)}`)

  const isTaken = (place: DamStatements.Place, except: ReadonlyArray<string>) =>
    Effect.map(sql.taken(place.workspace, place.folder_id, [place.name], except), ({ size }) => size > 0)

  /** Finds a folder by its id. The id null is the root, for which the result is undefined. */
  const folderOf = (workspace: string, id: Identifier.FolderId | null) =>
    id === null
      ? Effect.undefined
      : Statement.orFail(Rules.refuse("FolderNotFound", ["destination_folder_id"]))(sql.folder(workspace, id))

  /** Finds or creates folders. Returns the id of the innermost folder, or null for the root. */
  const ensureFolder = (workspace: string, folders: ReadonlyArray<string>) =>
    Effect.reduce(
      folders,
      (): string | null => null,
      Effect.fnUntraced(function* (folder_id, name) {
        const place = { workspace, folder_id, name }
        const existing = yield* sql.folderAt(place)
        if (Option.isSome(existing)) return existing.value.id
        if (Option.isSome(yield* sql.assetAt(place))) return yield* Rules.refuse("NameTaken")
        const id = yield* newId
        yield* insert("folders", { id, workspace, parent_id: folder_id, name })
        return id
      })
    )

  /** Finds the parent folder of an entry. Refuses a path with an unknown folder. */
  const placeOf = Effect.fnUntraced(function* (workspace: string, path: string) {
    const { folders, name } = namesOf(path)
    const folder_id = yield* Effect.reduce(
      folders,
      (): string | null => null,
      (parent, folder) =>
        sql.folderAt({ workspace, folder_id: parent, name: folder }).pipe(
          Statement.orFail(Rules.refuse("EntryNotFound", ["source"])),
          Effect.map(({ id }) => id)
        )
    )
    return { workspace, folder_id, name }
  })

  /** Finds all assets of a bulk request, in the order of `ids`. An unknown or a repeated id is refused. */
  const findAll = Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<Identifier.AssetId>) {
    const repeated = firstRepeated(ids)
    if (repeated !== -1) return yield* Rules.refuse("Repeated", ["asset_ids", repeated])
    const known = new Map((yield* sql.assets(workspace, ids)).map((row) => [row.id, row]))
    return yield* Effect.forEach(ids, (id, index) =>
      Effect.fromOption(Option.fromUndefinedOr(known.get(id)), () =>
        Rules.refuse("AssetNotFound", ["asset_ids", index])
      )
    )
  })

  /**
   * Stores a file. If the path already has an asset, the asset gets a new version. If a Step that has already stored the
   * file runs again after a crash, nothing is stored again, even if a client has deleted the asset since.
   */
  const store = Effect.fnUntraced(function* ({ digest, madeBy, workspace, ...file }: New, created_at: number) {
    const made = yield* sql.madeBy(madeBy)
    if (Option.isSome(made)) return DamStatements.toAsset(made.value)
    const place = { workspace, folder_id: yield* ensureFolder(workspace, file.folders), name: file.filename }
    if (Option.isSome(yield* sql.folderAt(place))) return yield* Rules.refuse("NameTaken")

    const existing = yield* sql.assetAt(place)
    const asset_id = Option.isSome(existing) ? existing.value.id : yield* newId
    const id = yield* newId
    const changed = { version_id: id, updated_at: created_at }
    yield* Option.isSome(existing)
      ? sql.update([asset_id], changed)
      : insert("assets", {
          id: asset_id,
          workspace,
          folder_id: place.folder_id,
          filename: file.filename,
          ...changed,
          position: yield* sql.nextPosition(workspace)
        })
    yield* insert("versions", {
      id,
      asset_id,
      blob: file.blob,
      made_by: madeBy,
      mime: file.mime,
      created_at,
      ...digest
    })
    return DamStatements.toAsset(Option.getOrThrow(yield* sql.asset(workspace, asset_id)))
  })

  return {
    store: (file: New) =>
      // The length is checked first, because otherwise a long path would need an id for each of its folders.
      Rules.isTooLong([...file.folders, file.filename].join("/"))
        ? Effect.fail(Rules.refuse("PathTooLong"))
        : change((now) => store(file, now.epochMilliseconds)),
    /** Finds an asset. Without `versionId`, returns the current version. */
    get: Effect.fnUntraced(function* (
      workspace: string,
      assetId: Identifier.AssetId,
      versionId: Identifier.VersionId | undefined
    ) {
      const found = yield* versionId === undefined
        ? sql.asset(workspace, assetId)
        : sql.assetVersion(workspace, assetId, versionId)
      if (Option.isSome(found)) return DamStatements.toAsset(found.value)
      const isThere = Option.isSome(yield* sql.asset(workspace, assetId))
      return yield* isThere ? Rules.refuse("VersionNotFound", ["version_id"]) : Rules.refuse("AssetNotFound")
    }),
    list: (listing: Listing.Listing) => Listing.list(sql, key, listing),
    move: ({ assetId, destinationFolderId, workspace, ...asked }: Move) =>
      change(
        Effect.fnUntraced(function* (now) {
          const row = yield* Statement.orFail(Rules.refuse("AssetNotFound"))(sql.asset(workspace, assetId))
          const folder_id = destinationFolderId === undefined ? row.folder_id : destinationFolderId
          const folder = yield* folderOf(workspace, folder_id)
          const filename = asked.filename ?? row.filename
          const path = Rules.join(folder, filename)
          if (Rules.isTooLong(path)) return yield* Rules.refuse("PathTooLong")
          if (yield* isTaken({ workspace, folder_id, name: filename }, [assetId]))
            return yield* Rules.refuse("NameTaken")
          yield* sql.update([assetId], { folder_id, filename, updated_at: now.epochMilliseconds })
          return moved(row, { filename, folder_id, path }, now)
        })
      ),
    /** Moves all assets or none. Two assets with the same name are refused, because one folder cannot contain both. */
    moveMany: ({
      assetIds,
      destinationFolderId: folder_id,
      workspace
    }: DamEntries.MoveManyRequest & Pick<Move, "workspace">) =>
      change(
        Effect.fnUntraced(function* (now) {
          const rows = yield* findAll(workspace, assetIds)
          const folder = yield* folderOf(workspace, folder_id)
          const names = rows.map(({ filename }) => filename)
          const paths = names.map((name) => Rules.join(folder, name))
          const long = paths.findIndex(Rules.isTooLong)
          if (long !== -1) return yield* Rules.refuse("PathTooLong", ["asset_ids", long])
          const taken = yield* sql.taken(workspace, folder_id, names, assetIds)
          const repeated = firstRepeated(names)
          const conflict = repeated === -1 ? names.findIndex((name) => taken.has(name)) : repeated
          if (conflict !== -1) return yield* Rules.refuse("NameTaken", ["asset_ids", conflict])
          yield* sql.update(assetIds, { folder_id, updated_at: now.epochMilliseconds })
          return rows.map((row, index) => moved(row, { ...row, folder_id, path: paths[index] ?? "" }, now))
        })
      ),
    /**
     * Moves an asset, or a folder with everything in it. Missing folders of the destination are created, as they are for
     * a new file. An entry that exists at the destination is never replaced. Returns the new path.
     */
    moveEntry: ({ workspace, ...asked }: DamEntries.MoveEntryRequest & Pick<Move, "workspace">) =>
      change(
        Effect.fnUntraced(function* ({ epochMilliseconds: now }) {
          const source = Rules.withoutSlash(asked.source)
          const destination = Rules.withoutSlash(asked.destination)
          const from = yield* placeOf(workspace, source)
          const folder = yield* sql.folderAt(from)
          const asset = yield* sql.assetAt(from)
          if (Option.isNone(folder) && Option.isNone(asset)) return yield* Rules.refuse("EntryNotFound", ["source"])
          if (source === destination) return destination
          if (Option.isSome(folder) && destination.startsWith(`${source}/`)) {
            return yield* Rules.refuse("IntoItself", ["destination"])
          }

          const { folders, name } = namesOf(destination)
          const place = { workspace, folder_id: yield* ensureFolder(workspace, folders), name }
          if (yield* isTaken(place, [])) return yield* Rules.refuse("NameTaken", ["destination"])
          if (Option.isSome(folder)) {
            const { id } = folder.value
            yield* Statement.run(
              client`UPDATE folders SET ${client.update({ parent_id: place.folder_id, name })} WHERE id = ${id}`
            )
            // The limits of a path also apply to every path in the moved folder. A refusal undoes the move.
            const isTooLong = Rules.isLongestTooLong(yield* sql.longestPath(workspace, id))
            if (isTooLong) return yield* Rules.refuse("PathTooLong", ["destination"])
          } else if (Option.isSome(asset)) {
            yield* sql.update([asset.value.id], { folder_id: place.folder_id, filename: name, updated_at: now })
          }
          return destination
        })
      ),
    /** Deletes all assets or none. Returns the time of the deletion. */
    remove: (workspace: string, assetIds: ReadonlyArray<Identifier.AssetId>) =>
      change(
        Effect.fnUntraced(function* (now) {
          yield* findAll(workspace, assetIds)
          yield* sql.update(assetIds, { deleted_at: now.epochMilliseconds, updated_at: now.epochMilliseconds })
          return timestamp(now)
        })
      )
  }
})
