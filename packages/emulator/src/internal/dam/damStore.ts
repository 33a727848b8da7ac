import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Statement from "../data/statement.ts"
import type * as FileStore from "../files/fileStore.ts"
import * as Ids from "../data/ids.ts"
import * as SecureRandom from "effect/crypto/SecureRandom"

/** A file to store as an asset. `blob` is the id of the blob that contains the bytes. */
export interface New {
  readonly workspace: string
  readonly folders: ReadonlyArray<string>
  readonly filename: string
  readonly blob: string
  /** The id of the work that stores the file. If an asset version with this id exists, nothing is stored. */
  readonly madeBy: string
  readonly mime: string | null
  readonly digest: FileStore.Digest
}

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

/** An asset with its folder and filename. */
export interface Placed {
  readonly asset: DamAsset.Asset
  readonly folderId: Identifier.FolderId | null
  readonly filename: string
  readonly updatedAt: DateTime.Utc
}

/** The reason why the DAM refused a change. A refused change has no effect. */
export type Problem = "AssetNotFound" | "FolderNotFound" | "NameTaken" | "PathTooLong"

/** Stores the assets and folders of all Workspaces. */
export class DamStore extends Context.Service<
  DamStore,
  {
    /** Stores a file. If the path already has an asset, the asset gets a new version. */
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

/** The location of an asset or folder: its Workspace, its parent folder (`null` is the root), and its name. */
interface Place {
  readonly workspace: string
  readonly folder_id: string | null
  readonly name: string
}

const firstAsset = Statement.first(AssetRow)
const firstFolder = Statement.first(FolderRow)

const statements = (sql: SqlClient.SqlClient) => {
  const assets = sql`
    SELECT assets.*, versions.mime, versions.size, versions.md5hash, versions.sha256
    FROM assets JOIN versions ON versions.id = assets.version_id
    WHERE assets.deleted_at IS NULL`
  const folders = sql`SELECT id, parent_id, name FROM folders`

  return {
    asset: (workspace: string, id: string) =>
      firstAsset(sql`${assets} AND assets.workspace = ${workspace} AND assets.id = ${id}`),
    assetAt: ({ folder_id, name, workspace }: Place) =>
      firstAsset(
        sql`${assets} AND assets.workspace = ${workspace} AND folder_id IS ${folder_id} AND filename = ${name}`
      ),
    folder: (workspace: string, id: string) =>
      firstFolder(sql`${folders} WHERE workspace = ${workspace} AND id = ${id}`),
    folderAt: ({ folder_id, name, workspace }: Place) =>
      firstFolder(sql`${folders} WHERE workspace = ${workspace} AND parent_id IS ${folder_id} AND name = ${name}`),
    insertFolder: (id: string, { folder_id, ...place }: Place) =>
      Statement.run(sql`INSERT INTO folders ${sql.insert({ id, ...place, parent_id: folder_id })}`),
    insertAsset: (id: string, { name, ...place }: Place, version_id: string, updated_at: number) =>
      Statement.run(sql`INSERT INTO assets ${sql.insert({ id, ...place, filename: name, version_id, updated_at })}`),
    insertVersion: (id: string, asset_id: string, { blob, digest, madeBy, mime }: New, created_at: number) =>
      Statement.run(
        sql`INSERT INTO versions ${sql.insert({ id, asset_id, blob, made_by: madeBy, mime, ...digest, created_at })}`
      ),
    madeBy: (work: string) =>
      firstAsset(sql`
        SELECT assets.*, versions.id AS version_id, versions.mime, versions.size, versions.md5hash, versions.sha256
        FROM versions JOIN assets ON assets.id = versions.asset_id WHERE versions.made_by = ${work}`),
    update: (id: string, columns: Readonly<Record<string, string | number | null>>) =>
      Statement.run(sql`UPDATE assets SET ${sql.update(columns)} WHERE id = ${id}`)
  }
}
type Statements = ReturnType<typeof statements>

const utf8 = new TextEncoder()

/** The limits in spec.md, "Limits", apply to the normalised path with its separators. */
const isPathTooLong = (path: string): boolean => [...path].length > 512 || utf8.encode(path).length > 1024

const pathOf = Effect.fnUntraced(function* (
  sql: Statements,
  workspace: string,
  folderId: Identifier.FolderId | null,
  filename: string
) {
  const names = [filename]
  for (let id = folderId; id !== null;) {
    const folder: typeof FolderRow.Type = Option.getOrThrow(yield* sql.folder(workspace, id))
    names.unshift(folder.name)
    id = folder.parent_id
  }
  return names.join("/")
})

const toAsset = Effect.fnUntraced(function* (sql: Statements, row: AssetRow) {
  const asset: DamAsset.Asset = {
    asset_id: row.id,
    version_id: row.version_id,
    workspace: row.workspace,
    path: yield* pathOf(sql, row.workspace, row.folder_id, row.filename),
    mime: row.mime,
    size: row.size,
    md5hash: row.md5hash,
    sha256: row.sha256
  }
  return asset
})

/** Finds or creates the folders of a file. Returns the id of the innermost folder, or null for the root. */
const ensureFolder = Effect.fnUntraced(function* (
  sql: Statements,
  { folders, workspace }: New,
  ids: ReadonlyArray<string>
): Effect.fn.Return<string | null, Problem | StorageFailed> {
  let folder_id: string | null = null
  for (const [index, name] of folders.entries()) {
    const place: Place = { workspace, folder_id, name }
    const existing = yield* sql.folderAt(place)
    if (Option.isSome(existing)) {
      folder_id = existing.value.id
      continue
    }
    if (Option.isSome(yield* sql.assetAt(place))) return yield* Effect.fail("NameTaken" as const)
    folder_id = ids[index] ?? ""
    yield* sql.insertFolder(folder_id, place)
  }
  return folder_id
})

const store = Effect.fnUntraced(function* (
  sql: Statements,
  file: New,
  fresh: { readonly assetId: string; readonly versionId: string; readonly folderIds: ReadonlyArray<string> },
  now: number
): Effect.fn.Return<DamAsset.Asset, Problem | StorageFailed> {
  const made = yield* sql.madeBy(file.madeBy)
  if (Option.isSome(made)) return yield* toAsset(sql, made.value)
  const folder_id = yield* ensureFolder(sql, file, fresh.folderIds)
  const place = { workspace: file.workspace, folder_id, name: file.filename }
  if (Option.isSome(yield* sql.folderAt(place))) return yield* Effect.fail("NameTaken" as const)

  const existing = yield* sql.assetAt(place)
  const id = Option.isSome(existing) ? existing.value.id : fresh.assetId
  yield* Option.isSome(existing)
    ? sql.update(id, { version_id: fresh.versionId, updated_at: now })
    : sql.insertAsset(id, place, fresh.versionId, now)
  yield* sql.insertVersion(fresh.versionId, id, file, now)
  return yield* toAsset(sql, Option.getOrThrow(yield* sql.asset(file.workspace, id)))
})

const move = Effect.fnUntraced(function* (
  sql: Statements,
  { assetId, destinationFolderId, workspace, ...asked }: Move,
  now: DateTime.Utc
): Effect.fn.Return<Placed, Problem | StorageFailed> {
  const found = yield* sql.asset(workspace, assetId)
  if (Option.isNone(found)) return yield* Effect.fail("AssetNotFound" as const)
  const folderId = destinationFolderId === undefined ? found.value.folder_id : destinationFolderId
  if (folderId !== null && Option.isNone(yield* sql.folder(workspace, folderId))) {
    return yield* Effect.fail("FolderNotFound" as const)
  }

  const filename = asked.filename ?? found.value.filename
  if (isPathTooLong(yield* pathOf(sql, workspace, folderId, filename))) {
    return yield* Effect.fail("PathTooLong" as const)
  }
  const place = { workspace, folder_id: folderId, name: filename }
  const other = Option.filter(yield* sql.assetAt(place), ({ id }) => id !== assetId)
  if (Option.isSome(other) || Option.isSome(yield* sql.folderAt(place))) {
    return yield* Effect.fail("NameTaken" as const)
  }

  yield* sql.update(assetId, { folder_id: folderId, filename, updated_at: now.epochMilliseconds })
  const asset = yield* toAsset(sql, { ...found.value, folder_id: folderId, filename })
  return { asset, folderId, filename, updatedAt: now }
})

const make = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const sql = statements(client)

  return DamStore.of({
    store: Effect.fnUntraced(
      function* (file) {
        // The length is checked first, because otherwise a long path would need an id for each of its folders.
        if (isPathTooLong([...file.folders, file.filename].join("/"))) {
          return yield* Effect.fail("PathTooLong" as const)
        }
        const now = yield* DateTime.now
        const fresh = {
          assetId: yield* Ids.identifier,
          versionId: yield* Ids.identifier,
          folderIds: yield* Effect.forEach(file.folders, () => Ids.identifier)
        }
        return yield* store(sql, file, fresh, now.epochMilliseconds).pipe(client.withTransaction, Statement.stored)
      },
      Effect.provideService(SecureRandom.SecureRandom, random)
    ),
    move: (asked) =>
      Effect.flatMap(DateTime.now, (now) => move(sql, asked, now)).pipe(client.withTransaction, Statement.stored)
  })
})

export const layer: Layer.Layer<DamStore, never, SqlClient.SqlClient | SecureRandom.SecureRandom> = Layer.effect(
  DamStore,
  make
)
