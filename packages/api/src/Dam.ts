/**
 * Operations of DAM assets: move an asset (spec.md, "Move or rename a DAM asset", alpha), get, list, delete, move many,
 * delete many, and move by path.
 */
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"
import * as Pages from "./internal/pages.ts"

const reading = {
  DAM_INVALID_REQUEST: ApiError.DamInvalidRequest,
  DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound
}

const changing = {
  ...reading,
  DAM_MUTATION_CONFLICT: ApiError.DamMutationConflict,
  DAM_MUTATION_FAILED: ApiError.DamMutationFailed
}

/**
 * `POST /dam/assets/bulk/delete`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const DeleteMany = Operation.make("Dam.deleteMany", "POST /dam/assets/bulk/delete", {
  scope: "dam:write",
  params: DamEntries.DeleteManyRequest,
  success: DamEntries.DeletedMany,
  errors: changing
})

/**
 * Deletes 1 to 500 assets.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.deleteMany({ assetIds: [first, second] })
 *
 * @since 0.1.0
 * @category operations
 */
export const deleteMany = (request: DamEntries.DeleteManyRequest) => Operation.run(DeleteMany, {}, request)

/**
 * `GET /dam/assets/:assetId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make("Dam.get", "GET /dam/assets/:assetId", {
  variables: { assetId: Identifier.AssetId },
  scope: "dam:read",
  params: DamEntries.GetQuery,
  success: DamEntries.Found,
  errors: reading
})

/**
 * Gets an asset. `versionId` selects one stored version of its bytes, by default the current version.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(Dam.get(assetId), ({ asset }) => asset.path)
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (assetId: Identifier.AssetId, query: DamEntries.GetQuery = {}) =>
  Operation.run(Get, { assetId }, query)

/**
 * `GET /dam/assets`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("Dam.list", "GET /dam/assets", {
  scope: "dam:read",
  params: DamEntries.ListQuery,
  success: DamEntries.Page,
  errors: reading
})

/**
 * Lists one page of the assets of the Workspace: at most `limit` assets, 100 by default. Use the `next_cursor` of a
 * page as the `cursor` of the next request. On the last page `next_cursor` is null.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.list({ prefix: "/reports/", limit: 500 })
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (query: DamEntries.ListQuery = {}) => Operation.run(List, {}, query)

/**
 * Streams the pages of a list, starting at `query.cursor`. A page is requested when it is pulled, because only the
 * previous page contains the cursor of the next page.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.listPages({ limit: 500 }).pipe(Stream.runForEach(({ assets }) => Console.log(assets.length)))
 *
 * @since 0.1.0
 * @category operations
 */
export const listPages = (query: DamEntries.ListQuery = {}) => Pages.follow("Dam.list", query, list)

/**
 * Streams the assets of all pages; see {@link listPages}. Holds one page in memory.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.listAll({ prefix: "/reports/" }).pipe(Stream.runForEach(({ path }) => Console.log(path)))
 *
 * @since 0.1.0
 * @category operations
 */
export const listAll = (query: DamEntries.ListQuery = {}) =>
  Stream.flatMap(listPages(query), ({ assets }) => Stream.fromIterable(assets))

/**
 * `PATCH /dam/assets/:assetId`
 *
 * @since 0.1.0
 * @category operations
 */
export const Move = Operation.make("Dam.move", "PATCH /dam/assets/:assetId", {
  variables: { assetId: Identifier.AssetId },
  scope: "dam:write",
  params: DamAsset.MoveRequest,
  success: DamAsset.Moved,
  errors: changing,
  retry: ["DAM_MUTATION_FAILED"]
})

/**
 * Renames an asset, moves it, or both. Without `destinationFolderId` the asset keeps its folder; null moves it to the
 * root. The result has the whole asset as `asset`, and its new `path`.
 *
 * @example Dam.move(assetId, { filename: "report.pdf", destinationFolderId: null })
 *
 * @since 0.1.0
 * @category operations
 */
export const move = (assetId: Identifier.AssetId, request: DamAsset.MoveRequest) =>
  Operation.run(Move, { assetId }, request)

/**
 * `POST /dam/entries/move`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const MoveEntry = Operation.make("Dam.moveEntry", "POST /dam/entries/move", {
  scope: "dam:write",
  params: DamEntries.MoveEntryRequest,
  success: DamEntries.EntryMoved,
  errors: changing
})

/**
 * Moves an asset or a folder by its path.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.moveEntry({ source: "/inbox/report.pdf", destination: "/reports/2026.pdf" })
 *
 * @since 0.1.0
 * @category operations
 */
export const moveEntry = (request: DamEntries.MoveEntryRequest) => Operation.run(MoveEntry, {}, request)

/**
 * `POST /dam/assets/bulk/move`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const MoveMany = Operation.make("Dam.moveMany", "POST /dam/assets/bulk/move", {
  scope: "dam:write",
  params: DamEntries.MoveManyRequest,
  success: DamEntries.MovedMany,
  errors: changing
})

/**
 * Moves 1 to 500 assets to the folder `destinationFolderId`, or to the root if `destinationFolderId` is null.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.moveMany({ assetIds: [first, second], destinationFolderId: null })
 *
 * @since 0.1.0
 * @category operations
 */
export const moveMany = (request: DamEntries.MoveManyRequest) => Operation.run(MoveMany, {}, request)

/**
 * `DELETE /dam/assets/:assetId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make("Dam.delete", "DELETE /dam/assets/:assetId", {
  variables: { assetId: Identifier.AssetId },
  scope: "dam:write",
  success: DamEntries.Deleted,
  errors: changing
})

/**
 * Deletes an asset.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.delete(assetId)
 *
 * @since 0.1.0
 * @category operations
 */
const remove = (assetId: Identifier.AssetId) => Operation.run(Delete, { assetId }, {})

export { remove as delete }
