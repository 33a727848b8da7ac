/**
 * The stable ids of the DAM (spec.md, "DAM asset").
 */
import * as Schema from "effect/Schema"

const make = <const Name extends string>(name: Name) =>
  Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9_-]{21}[AQgw]$/u, {
      expected: "22 characters of Base64URL, the last one A, Q, g or w"
    })
  ).pipe(Schema.brand<Name>(name as never))

/**
 * The id of an asset. The id stays the same after moves and renames.
 *
 * Clause: spec.md, "DAM asset", "Identifier format".
 *
 * @since 0.1.0
 * @category schemas
 */
export const AssetId = make("AssetId")
/**
 * @since 0.1.0
 * @category models
 */
export type AssetId = typeof AssetId.Type

/**
 * The id of one stored version of an asset's bytes.
 *
 * Clause: spec.md, "DAM asset", "Identifier format".
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionId = make("VersionId")
/**
 * @since 0.1.0
 * @category models
 */
export type VersionId = typeof VersionId.Type

/**
 * The id of a folder, such as the `folder_id` in the response to a move. The root folder has no id.
 *
 * Clause: spec.md, "DAM asset", "Identifier format".
 *
 * @since 0.1.0
 * @category schemas
 */
export const FolderId = make("FolderId")
/**
 * @since 0.1.0
 * @category models
 */
export type FolderId = typeof FolderId.Type
