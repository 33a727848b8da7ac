/**
 * The params and responses of operations of the DAM: get, list and delete assets, move many assets at once, and move an
 * asset or a folder by its path.
 *
 * These schemas are beyond the specification: spec.md defines the asset and the move of one asset, and names the other
 * operations without defining them.
 */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Asset, DestinationPath, Filename, Moved } from "./DamAsset.ts"
import * as Identifier from "./Identifier.ts"
import { named, renamed, type Structure, success } from "./unstable/Struct.ts"
import { between, NonEmptyString } from "./unstable/Field.ts"
import { Timestamp } from "./unstable/Timestamp.ts"

/**
 * The params of a request to get an asset. `versionId` selects one stored version of the bytes of the asset, by default
 * the current version.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const GetQuery = named<GetQuery>()(renamed({ versionId: Schema.optionalKey(Identifier.VersionId) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface GetQuery extends Structure<typeof GetQuery> {}

/**
 * The response with one asset.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Found = named<Found>()(success("DAM_ASSET_FOUND", { asset: Asset }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Found extends Structure<typeof Found> {}

/**
 * A position in a list of assets. Only the service creates a cursor. A cursor is valid only with the `prefix` of the
 * request whose response contained the cursor.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Cursor = NonEmptyString.pipe(Schema.brand("Cursor"))
/**
 * @since 0.1.0
 * @category models
 */
export type Cursor = typeof Cursor.Type

/**
 * The params of a list request. `prefix` is the beginning of the paths to list. `cursor` is the `next_cursor` of the
 * previous page. `limit` is the number of assets per request: 1 to 500, by default 100.
 *
 * Beyond the specification.
 *
 * @example `{ prefix: "/reports/", limit: 500 }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListQuery = Schema.Struct({
  prefix: Schema.optionalKey(Schema.String),
  cursor: Schema.optionalKey(Cursor),
  limit: Schema.optionalKey(between(1, 500))
}).pipe(named<ListQuery>())
/**
 * @since 0.1.0
 * @category models
 */
export interface ListQuery extends Structure<typeof ListQuery> {}

/**
 * One page of a list. `next_cursor` is null on the last page.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Page = success("DAM_ASSETS_LISTED", {
  workspace: Schema.String,
  assets: Schema.Array(Asset),
  next_cursor: Schema.NullOr(Cursor)
}).pipe(named<Page>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Page extends Structure<typeof Page> {}

const gone = { asset_id: Identifier.AssetId, deleted_at: Timestamp }

/**
 * The response to the deletion of one asset.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Deleted = named<Deleted>()(success("DAM_ASSET_DELETED", gone))
/**
 * @since 0.1.0
 * @category models
 */
export interface Deleted extends Structure<typeof Deleted> {}

/** The ids in one bulk request. The service documents no maximum, so the maximum of a list request is used. */
const AssetIds = Schema.Array(Identifier.AssetId).check(Schema.isBetweenLength(1, 500, { expected: "1 to 500 assets" }))

/**
 * The params of a request to move many assets: 1 to 500 ids, and the destination folder, or null for the root folder.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const MoveManyRequest = named<MoveManyRequest>()(
  renamed({ assetIds: AssetIds, destinationFolderId: Schema.NullOr(Identifier.FolderId) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface MoveManyRequest extends Structure<typeof MoveManyRequest> {}

/**
 * The response to a move of many assets.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const MovedMany = named<MovedMany>()(
  success("DAM_ASSETS_MOVED", { assets: Schema.Array(Schema.Struct(Struct.omit(Moved.fields, ["ok", "message"]))) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface MovedMany extends Structure<typeof MovedMany> {}

/**
 * The params of a request to delete many assets: 1 to 500 ids.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DeleteManyRequest = named<DeleteManyRequest>()(renamed({ assetIds: AssetIds }))
/**
 * @since 0.1.0
 * @category models
 */
export interface DeleteManyRequest extends Structure<typeof DeleteManyRequest> {}

/**
 * The response to the deletion of many assets.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DeletedMany = named<DeletedMany>()(
  success("DAM_ASSETS_DELETED", { assets: Schema.Array(Schema.Struct(gone)) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface DeletedMany extends Structure<typeof DeletedMany> {}

const isName = Schema.is(Filename)
const namesIn = (path: string) => path.replace(/^\//, "").split("/")

/**
 * The path of an asset or a folder. The path has the limits of `DamAsset.DestinationPath`, and each name in the path
 * follows the rules of `DamAsset.Filename`. A slash at the start is optional; a slash at the end is refused.
 *
 * Beyond the specification.
 */
const EntryPath = DestinationPath.check(
  Schema.makeFilter<string>((path) => namesIn(path).every((name) => isName(name)), {
    expected: "names that are valid filenames, separated by single slashes"
  })
)

/**
 * The params of a request to move an asset or a folder by its path.
 *
 * Beyond the specification.
 *
 * @example `{ source: "/inbox/report.pdf", destination: "/reports/2026.pdf" }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const MoveEntryRequest = named<MoveEntryRequest>()(Schema.Struct({ source: EntryPath, destination: EntryPath }))
/**
 * @since 0.1.0
 * @category models
 */
export interface MoveEntryRequest extends Structure<typeof MoveEntryRequest> {}

/**
 * The new path of a moved asset or folder.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const EntryMoved = named<EntryMoved>()(success("DAM_ENTRY_MOVED", { path: NonEmptyString }))
/**
 * @since 0.1.0
 * @category models
 */
export interface EntryMoved extends Structure<typeof EntryMoved> {}
