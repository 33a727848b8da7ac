import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Struct from "effect/Struct"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Statement from "../data/statement.ts"

/**
 * An asset with one of its versions. `position` orders the assets of a Workspace by creation, and never changes. `path`
 * is computed from the folders, so that moving a folder changes one row.
 */
export const AssetRow = Schema.Struct({
  id: Identifier.AssetId,
  workspace: Schema.String,
  folder_id: Schema.NullOr(Identifier.FolderId),
  filename: Schema.String,
  position: Schema.Int,
  path: Schema.String,
  version_id: Identifier.VersionId,
  mime: Schema.NullOr(Schema.String),
  size: Schema.Int,
  md5hash: Schema.String,
  sha256: Schema.String
})
export type AssetRow = typeof AssetRow.Type

const FolderRow = Schema.Struct({ id: Identifier.FolderId, path: Schema.String })
export type FolderRow = typeof FolderRow.Type

/** The location of an asset or folder: its Workspace, its parent folder (`null` is the root), and its name. */
export interface Place {
  readonly workspace: string
  readonly folder_id: string | null
  readonly name: string
}

const { all: allAssets, first: firstAsset } = Statement.rows(AssetRow)
const firstFolder = Statement.rows(FolderRow).first
const firstPosition = Statement.column(Schema.Int).first
const allNames = Statement.column(Schema.String).all
const longest = Statement.rows(Schema.Struct({ code_points: Schema.Int, bytes: Schema.Int })).one

/** The SQL expression of a path: the names of all folders from the root to `folderId`, and then `name`. */
const pathSql = (folderId: string, name: string) => `(
  WITH RECURSIVE up (folder_id, path) AS (
    SELECT ${folderId}, ${name}
    UNION ALL
    SELECT parents.parent_id, parents.name || '/' || up.path FROM up JOIN folders AS parents ON parents.id = up.folder_id
  )
  SELECT path FROM up WHERE folder_id IS NULL)`

const columnsSql = `assets.id, assets.workspace, assets.folder_id, assets.filename, assets.position,
  ${pathSql("assets.folder_id", "assets.filename")} AS path,
  versions.id AS version_id, versions.mime, versions.size, versions.md5hash, versions.sha256`

/** The statements of the DAM. Only `madeBy` finds deleted assets. */
export const make = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsSql)
  const current = sql`
    SELECT ${columns} FROM assets JOIN versions ON versions.id = assets.version_id WHERE assets.deleted_at IS NULL`
  const folders = sql`SELECT id, ${sql.literal(pathSql("folders.parent_id", "folders.name"))} AS path FROM folders`
  // The indexes contain these expressions. With `folder_id IS ...` SQLite would search the whole Workspace.
  const inFolder = (folderId: string | null) => sql`coalesce(folder_id, '') = ${folderId ?? ""}`
  const inParent = (folderId: string | null) => sql`coalesce(parent_id, '') = ${folderId ?? ""}`
  const isAny = (column: string, values: ReadonlyArray<string>) =>
    sql`${sql.literal(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`

  return {
    asset: (workspace: string, id: string) =>
      firstAsset(sql`${current} AND assets.workspace = ${workspace} AND assets.id = ${id}`),
    /** Finds an asset with a given version, which may be older than the current version. */
    assetVersion: (workspace: string, id: string, version: string) =>
      firstAsset(sql`
        SELECT ${columns} FROM versions JOIN assets ON assets.id = versions.asset_id
        WHERE assets.deleted_at IS NULL AND assets.workspace = ${workspace} AND assets.id = ${id}
          AND versions.id = ${version}`),
    /**
     * The assets with these ids that exist, in any order. The plus sign keeps SQLite from reading all assets of the
     * Workspace by the index of the Workspace.
     */
    assets: (workspace: string, ids: ReadonlyArray<string>) =>
      allAssets(sql`${current} AND +assets.workspace = ${workspace} AND ${isAny("assets.id", ids)}`),
    /**
     * The first assets after a position. LIMIT is a literal, because SQLite would plan the statement again each time a
     * LIMIT parameter is bound.
     */
    slice: (workspace: string, { after, limit, until }: { readonly [K in "after" | "limit" | "until"]: number }) =>
      allAssets(sql`
        ${current} AND assets.workspace = ${workspace} AND position > ${after} AND position <= ${until}
        ORDER BY position LIMIT ${sql.literal(String(limit))}`),
    /**
     * The position of the newest asset, even if this asset was deleted. The position is 0 if the Workspace never had an
     * asset.
     */
    lastPosition: (workspace: string) =>
      Effect.map(
        firstPosition(sql`SELECT last FROM dam_positions WHERE workspace = ${workspace}`),
        Option.getOrElse(() => 0)
      ),
    /**
     * A position that no asset of the Workspace had before. A walk through the list that has already started therefore
     * does not return the new asset.
     */
    nextPosition: (workspace: string) =>
      Statement.count(sql`
        INSERT INTO dam_positions VALUES (${workspace}, 1)
        ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last`),
    assetAt: ({ folder_id, name, workspace }: Place) =>
      firstAsset(sql`${current} AND assets.workspace = ${workspace} AND ${inFolder(folder_id)} AND filename = ${name}`),
    folder: (workspace: string, id: string) =>
      firstFolder(sql`${folders} WHERE workspace = ${workspace} AND id = ${id}`),
    folderAt: ({ folder_id, name, workspace }: Place) =>
      firstFolder(sql`${folders} WHERE workspace = ${workspace} AND ${inParent(folder_id)} AND name = ${name}`),
    /** Returns the names in `names` that a folder already contains. The assets in `except` do not count. */
    taken: (
      workspace: string,
      folderId: string | null,
      names: ReadonlyArray<string>,
      except: ReadonlyArray<string>
    ): Effect.Effect<ReadonlySet<string>, StorageFailed> =>
      Effect.map(
        allNames(sql`
          SELECT name FROM folders WHERE workspace = ${workspace} AND ${inParent(folderId)} AND ${isAny("name", names)}
          UNION ALL
          SELECT filename FROM assets
          WHERE workspace = ${workspace} AND ${inFolder(folderId)} AND ${isAny("filename", names)}
            AND deleted_at IS NULL AND NOT ${isAny("id", except)}`),
        (found) => new Set(found)
      ),
    /**
     * The maximum numbers of code points and of bytes of the paths in a folder, including the path of the folder
     * itself. `CROSS JOIN` makes SQLite search the content of each folder; otherwise SQLite would read the whole
     * Workspace for each folder. The plus sign removes the type of the column: SQLite uses the index only if both sides
     * of the comparison have the same type, and the expression in the index has no type.
     */
    longestPath: (workspace: string, folderId: string) =>
      longest(sql`
        WITH RECURSIVE
          tree (id, path) AS (
            SELECT id, ${sql.literal(pathSql("folders.parent_id", "folders.name"))} FROM folders WHERE id = ${folderId}
            UNION ALL
            SELECT children.id, tree.path || '/' || children.name FROM tree CROSS JOIN folders AS children
              ON children.workspace = ${workspace} AND coalesce(children.parent_id, '') = +tree.id
          ),
          paths (path) AS (
            SELECT path FROM tree
            UNION ALL
            SELECT tree.path || '/' || assets.filename FROM tree CROSS JOIN assets
              ON assets.workspace = ${workspace} AND coalesce(assets.folder_id, '') = +tree.id
            WHERE assets.deleted_at IS NULL
          )
        SELECT max(length(path)) AS code_points, max(octet_length(path)) AS bytes FROM paths`),
    madeBy: (work: string) =>
      firstAsset(sql`
        SELECT ${columns} FROM versions JOIN assets ON assets.id = versions.asset_id WHERE versions.made_by = ${work}`),
    update: (ids: ReadonlyArray<string>, columnsOf: Readonly<Record<string, string | number | null>>) =>
      Statement.run(sql`UPDATE assets SET ${sql.update(columnsOf)} WHERE ${isAny("id", ids)}`)
  }
}
export type Statements = ReturnType<typeof make>

export const toAsset = (row: AssetRow): DamAsset.Asset => ({
  asset_id: row.id,
  ...Struct.omit(row, ["filename", "folder_id", "id", "position"])
})
