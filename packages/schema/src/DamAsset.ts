/**
 * Assets of the DAM (digital asset management), and the move operation, which is alpha (spec.md, "DAM asset" and "Move
 * or rename a DAM asset").
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Identifier from "./Identifier.ts"
import { broken, ofName, type TextRule } from "./internal/text.ts"
import { closed, extensible, named, strict, type Structure } from "./unstable/Struct.ts"
import { ByteSize, NonEmptyString, PixelSize } from "./unstable/Field.ts"
import { Timestamp } from "./unstable/Timestamp.ts"

const lowerHex = (digits: number) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^[a-f0-9]{${digits}}$`, "u"), { expected: `${digits} lowercase hexadecimal digits` })
  )

const PaddedBase64 = Schema.String.check(
  Schema.isPattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u, {
    expected: "padded Base64 in the standard alphabet"
  })
)

/**
 * A stored file. `asset_id` is the stable id of the asset, and `path` is its current path in the Workspace. `size` is
 * in bytes, and `width` and `height` are in pixels. Unknown fields are kept.
 *
 * Clause: spec.md, "DAM asset".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Asset = extensible({
  asset_id: Identifier.AssetId,
  version_id: Identifier.VersionId,
  workspace: NonEmptyString,
  path: NonEmptyString,
  mime: Schema.NullOr(Schema.String),
  size: ByteSize,
  width: Schema.optionalKey(PixelSize),
  height: Schema.optionalKey(PixelSize),
  has_alpha: Schema.optionalKey(Schema.Boolean),
  md5hash: Schema.optionalKey(lowerHex(32)),
  sha256: Schema.optionalKey(lowerHex(64)),
  thumbhash: Schema.optionalKey(PaddedBase64)
}).pipe(named<Asset, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Asset extends Structure<typeof Asset> {}
const nfc = (text: string): string => text.normalize("NFC")

const codePoints = (text: string): number => [...text].length

const utf8 = new TextEncoder()

/** Checks the normal form of a text. */
const normalKeeps =
  (...rules: ReadonlyArray<TextRule>) =>
  (text: string) =>
    broken(nfc(text), rules)

const isFilename = Schema.makeFilter<string>(
  normalKeeps(
    [(name) => name.length > 0 && codePoints(name) <= 255, "a name of 1 to 255 characters"],
    [(name) => name === "" || name.trim() !== "", "a name that is not only white space"],
    [(name) => !/[/\\]/.test(name), "a name without slash or backslash"],
    ...ofName("a name")
  ),
  {
    expected: "a filename",
    arbitraryConstraint: {
      patterns: [
        { source: "^[^\\u0000-\\u0020/\\\\\\u007f-\\u00a0][^\\u0000-\\u001f/\\\\\\u007f-\\u009f]{0,40}$", flags: "u" }
      ]
    }
  }
)

const normalised = SchemaTransformation.transform({ decode: nfc, encode: nfc })

/**
 * The last part of a path: 1 to 255 Unicode code points after normalization to NFC. A filename must not be `.`, `..` or
 * only white space, and must not contain a slash, a backslash, a control character or a lone surrogate. Leading and
 * trailing spaces are kept (spec.md, "Move or rename a DAM asset").
 *
 * @since 0.1.0
 * @category schemas
 */
export const Filename = Schema.String.pipe(Schema.decodeTo(Schema.String.check(isFilename), normalised))

const isDestinationPath = Schema.makeFilter<string>(
  normalKeeps(
    [(path) => codePoints(path) <= 512, "a path of at most 512 Unicode code points"],
    [(path) => utf8.encode(path).length <= 1024, "a path of at most 1024 UTF-8 bytes"],
    [(path) => path.isWellFormed(), "a path in valid Unicode"]
  ),
  {
    expected: "a destination path",
    arbitraryConstraint: {
      patterns: [{ source: "^(?:[a-z0-9][a-z0-9 ._-]{0,7}/){0,4}[a-z0-9][a-z0-9._-]{0,15}$", flags: "" }]
    }
  }
)

/**
 * The destination path of a move: folders and filename with their separators. A destination path has at most 512
 * Unicode code points and at most 1024 UTF-8 bytes after normalization to NFC (spec.md, "Limits").
 *
 * Only the service knows the folder of an asset, so the client does not check these limits before it moves an asset by
 * its id. If you know the folder, check the limits with this schema.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DestinationPath = NonEmptyString.pipe(Schema.decodeTo(NonEmptyString.check(isDestinationPath), normalised))

const isMove = (request: {
  readonly filename?: string
  readonly destinationFolderId?: Identifier.FolderId | null
}): request is
  | { readonly filename: string; readonly destinationFolderId?: Identifier.FolderId | null }
  | { readonly filename?: string; readonly destinationFolderId: Identifier.FolderId | null } =>
  "filename" in request || "destinationFolderId" in request

/**
 * The changes to an asset. At least one of `filename` and `destinationFolderId` is required, and unknown keys are
 * refused. An absent `destinationFolderId` keeps the folder; null moves the asset to the root folder (spec.md, "Move or
 * rename a DAM asset", rules 1 and 2).
 *
 * @example `{ filename: "report.pdf" }`, `{ destinationFolderId: null }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const MoveRequest = closed({
  filename: Schema.optionalKey(Filename),
  destinationFolderId: Schema.optionalKey(Schema.NullOr(Identifier.FolderId))
}).pipe(
  Schema.refine(isMove, {
    expected: "at least one of filename and destination_folder_id",
    arbitraryConstraint: { minProperties: 1 }
  })
)
/**
 * @since 0.1.0
 * @category models
 */
export type MoveRequest = typeof MoveRequest.Type

/**
 * The asset after a move. `folder_id` is null in the root folder. `deleted_at` is null unless the asset is deleted.
 *
 * Clause: spec.md, "Move/rename response body".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Moved = Schema.Struct({
  ok: Schema.Literal("DAM_ASSET_MOVED"),
  message: NonEmptyString,
  asset: Asset,
  asset_id: Identifier.AssetId,
  folder_id: Schema.NullOr(Identifier.FolderId),
  filename: NonEmptyString,
  path: NonEmptyString,
  deleted_at: Schema.NullOr(Timestamp),
  updated_at: Timestamp
}).pipe(named<Moved>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Moved extends Structure<typeof Moved> {}

/**
 * {@link Moved} in strict form: fields that the specification does not name are refused, except inside the asset.
 *
 * Clause: spec.md, "Move/rename response body", "only these fields".
 *
 * @since 0.1.0
 * @category schemas
 */
export const MovedStrict = strict(Moved.fields)
