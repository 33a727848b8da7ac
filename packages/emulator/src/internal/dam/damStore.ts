import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Database from "../data/database.ts"
import type * as FileStore from "../files/fileStore.ts"
import * as Ids from "../data/ids.ts"
import * as SecureRandom from "effect/crypto/SecureRandom"

/** A file to store as an asset: its path, and the blob with its bytes. */
export interface New {
  readonly workspace: string
  readonly folders: ReadonlyArray<string>
  readonly filename: string
  readonly blob: string
  /** The id of the work that stores the file. Repeated work with the same id stores nothing. */
  readonly madeBy: string
  readonly mime: string | null
  readonly digest: FileStore.Digest
}

/** A move of an asset. An undefined `destinationFolderId` keeps the folder, null is the root. */
export interface Move {
  readonly workspace: string
  readonly assetId: Identifier.AssetId
  readonly filename: string | undefined
  readonly destinationFolderId: Identifier.FolderId | null | undefined
}

/** An asset with its folder and filename. */
export interface Placed {
  readonly asset: DamAsset.Asset
  readonly folderId: Identifier.FolderId | null
  readonly filename: string
  readonly updatedAt: DateTime.Utc
}

/** Why a change of the DAM failed. Nothing was changed. */
export type Problem = "AssetNotFound" | "FolderNotFound" | "NameTaken" | "PathTooLong"

/** The assets and folders of every Workspace. */
export class DamStore extends Context.Service<
  DamStore,
  {
    /** Stores a file. An asset at the same path gets a new version. */
    readonly store: (file: New) => Effect.Effect<DamAsset.Asset, Problem | StorageFailed>
    readonly move: (move: Move) => Effect.Effect<Placed, Problem | StorageFailed>
  }
>()("@assembly-effect/emulator/DamStore") {}

const AssetRow = Schema.Struct({
  id: Identifier.AssetId,
  workspace: Schema.String,
  folder_id: Schema.NullOr(Identifier.FolderId),
  filename: Schema.String,
  version_id: Identifier.VersionId,
  mime: Schema.NullOr(Schema.String),
  size: Schema.Int,
  md5hash: Schema.String,
  sha256: Schema.String
})
type AssetRow = typeof AssetRow.Type

const FolderRow = Schema.Struct({
  id: Identifier.FolderId,
  parent_id: Schema.NullOr(Identifier.FolderId),
  name: Schema.String
})

const selectAsset = `
SELECT assets.*, versions.mime, versions.size, versions.md5hash, versions.sha256
FROM assets JOIN versions ON versions.id = assets.version_id
WHERE assets.workspace = :workspace AND assets.deleted_at IS NULL`

const statements = (database: Database.Database["Service"]) => ({
  asset: database.query(AssetRow, `${selectAsset} AND assets.id = :id`),
  assetAt: database.query(AssetRow, `${selectAsset} AND assets.folder_id IS :folderId AND assets.filename = :name`),
  folder: database.query(
    FolderRow,
    "SELECT id, parent_id, name FROM folders WHERE workspace = :workspace AND id = :id"
  ),
  folderAt: database.query(
    FolderRow,
    "SELECT id, parent_id, name FROM folders WHERE workspace = :workspace AND parent_id IS :folderId AND name = :name"
  ),
  insertFolder: database.command(
    "INSERT INTO folders (id, workspace, parent_id, name) VALUES (:id, :workspace, :folderId, :name)"
  ),
  insertAsset: database.command(
    `INSERT INTO assets (id, workspace, folder_id, filename, version_id, updated_at)
     VALUES (:id, :workspace, :folderId, :name, :versionId, :now)`
  ),
  insertVersion: database.command(
    `INSERT INTO versions (id, asset_id, blob, made_by, mime, size, md5hash, sha256, created_at)
     VALUES (:id, :assetId, :blob, :madeBy, :mime, :size, :md5hash, :sha256, :now)`
  ),
  madeBy: database.query(
    AssetRow,
    `SELECT assets.*, versions.id AS version_id, versions.mime, versions.size, versions.md5hash, versions.sha256
     FROM versions JOIN assets ON assets.id = versions.asset_id WHERE versions.made_by = :madeBy`
  ),
  setVersion: database.command("UPDATE assets SET version_id = :versionId, updated_at = :now WHERE id = :id"),
  place: database.command("UPDATE assets SET folder_id = :folderId, filename = :name, updated_at = :now WHERE id = :id")
})
type Statements = ReturnType<typeof statements>

const utf8 = new TextEncoder()

/** spec.md, "Limits": the path after normalisation, with its separators. */
const isPathTooLong = (path: string): boolean => [...path].length > 512 || utf8.encode(path).length > 1024

const pathOf = (sql: Statements, workspace: string, folderId: Identifier.FolderId | null, filename: string): string => {
  const names = [filename]
  for (let id = folderId; id !== null;) {
    const folder = Option.getOrThrow(sql.folder.first({ workspace, id }))
    names.unshift(folder.name)
    id = folder.parent_id
  }
  return names.join("/")
}

const toAsset = (sql: Statements, row: AssetRow): DamAsset.Asset => ({
  asset_id: row.id,
  version_id: row.version_id,
  workspace: row.workspace,
  path: pathOf(sql, row.workspace, row.folder_id, row.filename),
  mime: row.mime,
  size: row.size,
  md5hash: row.md5hash,
  sha256: row.sha256
})

/** Finds or creates the folder at a path. Answers `undefined` if an asset has the name of one of the folders. */
const ensureFolder = (
  sql: Statements,
  { folders, workspace }: New,
  ids: ReadonlyArray<string>
): string | null | undefined => {
  let folderId: string | null = null
  for (const [index, name] of folders.entries()) {
    const place: Database.Parameters = { workspace, folderId, name }
    const existing = sql.folderAt.first(place)
    if (Option.isSome(existing)) {
      folderId = existing.value.id
      continue
    }
    if (Option.isSome(sql.assetAt.first(place))) return undefined
    const id = ids[index] ?? ""
    sql.insertFolder({ ...place, id })
    folderId = id
  }
  return folderId
}

const storeNow = (
  sql: Statements,
  file: New,
  fresh: { readonly assetId: string; readonly versionId: string; readonly folderIds: ReadonlyArray<string> },
  now: number
): DamAsset.Asset | Problem => {
  const made = sql.madeBy.first({ madeBy: file.madeBy })
  if (Option.isSome(made)) return toAsset(sql, made.value)
  const folderId = ensureFolder(sql, file, fresh.folderIds)
  const place = { workspace: file.workspace, folderId: folderId ?? null, name: file.filename }
  if (folderId === undefined || Option.isSome(sql.folderAt.first(place))) return "NameTaken"

  const existing = sql.assetAt.first(place)
  const { assetId, versionId } = Option.match(existing, {
    onNone: () => fresh,
    onSome: ({ id }) => ({ assetId: id, versionId: fresh.versionId })
  })
  if (Option.isSome(existing)) sql.setVersion({ id: assetId, versionId, now })
  else sql.insertAsset({ ...place, id: assetId, versionId, now })
  sql.insertVersion({
    id: versionId,
    assetId,
    blob: file.blob,
    madeBy: file.madeBy,
    mime: file.mime,
    ...file.digest,
    now
  })
  return toAsset(sql, Option.getOrThrow(sql.asset.first({ workspace: file.workspace, id: assetId })))
}

const moveNow = (sql: Statements, move: Move, now: DateTime.Utc): Placed | Problem => {
  const { assetId, workspace } = move
  const found = sql.asset.first({ workspace, id: assetId })
  if (Option.isNone(found)) return "AssetNotFound"
  const folderId = move.destinationFolderId === undefined ? found.value.folder_id : move.destinationFolderId
  if (folderId !== null && Option.isNone(sql.folder.first({ workspace, id: folderId }))) return "FolderNotFound"

  const filename = move.filename ?? found.value.filename
  if (isPathTooLong(pathOf(sql, workspace, folderId, filename))) return "PathTooLong"
  const place = { workspace, folderId, name: filename }
  const other = Option.filter(sql.assetAt.first(place), ({ id }) => id !== assetId)
  if (Option.isSome(other) || Option.isSome(sql.folderAt.first(place))) return "NameTaken"

  sql.place({ id: assetId, folderId, name: filename, now: now.epochMilliseconds })
  const moved = toAsset(sql, { ...found.value, folder_id: folderId, filename })
  return { asset: moved, folderId, filename, updatedAt: now }
}

const orProblem = <A extends object>(result: A | Problem): Effect.Effect<A, Problem> =>
  typeof result === "string" ? Effect.fail(result) : Effect.succeed(result)

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const random = yield* SecureRandom.SecureRandom
  const sql = statements(database)

  return DamStore.of({
    store: Effect.fnUntraced(
      function* (file) {
        // Before each of its folders gets an id.
        if (isPathTooLong([...file.folders, file.filename].join("/"))) return "PathTooLong" as const
        const now = yield* DateTime.now
        const fresh = {
          assetId: yield* Ids.identifier,
          versionId: yield* Ids.identifier,
          folderIds: yield* Effect.forEach(file.folders, () => Ids.identifier)
        }
        return yield* database.transaction(() => storeNow(sql, file, fresh, now.epochMilliseconds))
      },
      Effect.flatMap(orProblem),
      Effect.provideService(SecureRandom.SecureRandom, random)
    ),
    move: Effect.fnUntraced(function* (move) {
      const now = yield* DateTime.now
      return yield* Effect.flatMap(
        database.transaction(() => moveNow(sql, move, now)),
        orProblem
      )
    })
  })
})

export const layer: Layer.Layer<DamStore, never, Database.Database | SecureRandom.SecureRandom> = Layer.effect(
  DamStore,
  make
)
