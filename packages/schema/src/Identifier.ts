/**
 * The stable identities of the DAM (spec.md, "DAM asset").
 */
import * as Schema from "effect/Schema"

const make = <const Name extends string>(name: Name) =>
  Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9_-]{21}[AQgw]$/u, {
      expected: "22 characters of Base64URL, the last one A, Q, g or w"
    })
  ).pipe(Schema.brand<Name>(name as never))

/**
 * The identity of an asset; it survives moves and renames.
 *
 * Clause: spec.md, "DAM asset", "Identifier format".
 */
export const AssetId = make("AssetId")
export type AssetId = typeof AssetId.Type

/**
 * The identity of one stored version of an asset's bytes.
 *
 * Clause: spec.md, "DAM asset", "Identifier format".
 */
export const VersionId = make("VersionId")
export type VersionId = typeof VersionId.Type

/**
 * The identity of a folder, known from an earlier move response; the root has none.
 *
 * Clause: spec.md, "DAM asset", "Identifier format".
 */
export const FolderId = make("FolderId")
export type FolderId = typeof FolderId.Type
