/**
 * Assets of the DAM and the move operation (spec.md, "DAM asset" and "Move or rename a DAM asset", alpha).
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Identifier from "./Identifier.ts"
import { closed } from "./internal/closed.ts"
import { ByteSize, NonEmptyString, PixelSize, Timestamp } from "./Scalar.ts"

const lowerHex = (digits: number) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^[a-f0-9]{${digits}}$`), { expected: `${digits} lowercase hexadecimal digits` })
  )

const PaddedBase64 = Schema.String.check(
  Schema.isPattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, {
    expected: "padded Base64 in the standard alphabet"
  })
)

/**
 * A stored file: `asset_id` is its stable identity, `path` its current place in the Workspace. `size` is bytes,
 * `width` and `height` are pixels. Further fields are kept.
 */
export const Asset = Schema.StructWithRest(
  Schema.Struct({
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
  }),
  [Schema.Record(Schema.String, Schema.Json)]
)
export type Asset = typeof Asset.Type

const filenameRules: ReadonlyArray<readonly [(name: string) => boolean, string]> = [
  [(name) => name.isWellFormed(), "valid Unicode"],
  [(name) => name.trim() !== "", "a name that is not only white space"],
  [(name) => name !== "." && name !== "..", "a name other than . and .."],
  [(name) => !/[/\\]/.test(name), "a name without slash or backslash"],
  // oxlint-disable-next-line no-control-regex -- control characters are what the rule is about
  [(name) => !/[\u0000-\u001f\u007f-\u009f]/.test(name), "a name without control characters"],
  [(name) => [...name].length <= 255, "1 to 255 characters"]
]

const isFilename = Schema.makeFilter<string>(
  (name) => filenameRules.filter(([holds]) => !holds(name)).map(([, rule]) => `Expected ${rule}`),
  {
    expected: "a filename",
    arbitraryConstraint: {
      patterns: [
        {
          source: "^[^\\u0000-\\u0020/\\\\\\u007f-\\u00a0][^\\u0000-\\u001f/\\\\\\u007f-\\u009f]{0,40}$",
          flags: "u"
        }
      ]
    }
  }
)

const nfc = (text: string): string => text.normalize("NFC")

/**
 * The last part of a path: 1 to 255 characters after normalisation to NFC, counted as code points. Not `.`, `..` or
 * only white space; no slash, backslash, control character or lone surrogate. Other leading and trailing spaces are
 * kept (spec.md, "Move or rename a DAM asset").
 */
export const Filename = Schema.String.pipe(
  Schema.decodeTo(Schema.String.check(isFilename), SchemaTransformation.transform({ decode: nfc, encode: nfc }))
)

const destination = { destinationFolderId: Schema.NullOr(Identifier.FolderId) }
const wire = { destinationFolderId: "destination_folder_id" } as const

/**
 * What to change of an asset; at least one of the two keys. For `destinationFolderId` absent keeps the folder, null
 * moves to the root.
 *
 * @example `{ filename: "report.pdf" }`, `{ destinationFolderId: null }`
 */
export const MoveRequest = Schema.Union([
  closed(
    Schema.Struct({
      filename: Filename,
      destinationFolderId: Schema.optionalKey(destination.destinationFolderId)
    }).pipe(Schema.encodeKeys(wire))
  ),
  closed(Schema.Struct(destination).pipe(Schema.encodeKeys(wire)))
])
export type MoveRequest = typeof MoveRequest.Type

/**
 * The asset after a move. `folder_id` null is the root, `deleted_at` null an asset that is there.
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
})
export type Moved = typeof Moved.Type
