/**
 * The errors of `Results`.
 *
 * No error contains the URL of a result, because the URL grants access to the file.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Schema from "effect/Schema"
import type * as ApiError from "./ApiError.ts"

/**
 * - `operation`: `Results.download` or `Results.save`.
 * - `host`: the host that sent the file, with its port if this is not the default port.
 * - `file`: the name of the file in the Status, else its id, else `the file`.
 */
const about = { operation: Schema.String, host: Schema.optionalKey(Schema.String), file: Schema.String }

const at = ({ file, host }: { readonly file: string; readonly host?: string }): string =>
  host === undefined ? file : `${file} at ${host}`

/**
 * The file changed between two requests of one download, or a later response does not prove that the file is the same.
 * The bytes of the responses cannot be combined. Download the file again.
 *
 * `field` names the difference: the `etag` (different, or missing in a later response), the `last-modified`, the
 * `length`, or the `content`.
 * With `content`, the server sent the whole file again, and its first bytes differ from the bytes that were received
 * before.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResultChanged extends Expected.TaggedError<ResultChanged>()(
  "ResultChanged",
  { ...about, field: Schema.Literals(["etag", "last-modified", "length", "content"]) },
  (error) => `${error.operation}: ${at(error)} changed during the download (${error.field}); download it again`
) {}

/**
 * The file differs from its description in the Status. `expected` is the value in the Status, and `actual` is the value
 * of the file.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResultMismatch extends Expected.TaggedError<ResultMismatch>()(
  "ResultMismatch",
  { ...about, field: Schema.Literals(["size", "md5hash"]), expected: Schema.String, actual: Schema.String },
  (error) =>
    `${error.operation}: the ${error.field} of ${at(error)} is ${error.actual}, but the Status says ${error.expected}`
) {}

/**
 * The file is larger than `maxBytes`. No byte of the file was read. `size` is in bytes.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResultTooLarge extends Expected.TaggedError<ResultTooLarge>()(
  "ResultTooLarge",
  { ...about, size: Schema.Finite, maxBytes: Schema.Finite },
  (error) => `${error.operation}: ${at(error)} has ${error.size} bytes, more than maxBytes (${error.maxBytes})`
) {}

/**
 * The file could not be written. A file that existed at `path` is unchanged.
 *
 * - `Full`: the disk is full, or the quota of the user is used up.
 * - `Denied`: the program may not write to `path`.
 * - `NotFound`: the folder does not exist, or is not a folder.
 * - `NotAFile`: at `path` there is something other than a file, such as a folder or a device, or `path` is empty or
 *   ends with a slash.
 * - `Other`: any other failure; `description` describes it.
 *
 * @since 0.1.0
 * @category errors
 */
export class SaveFailed extends Expected.TaggedError<SaveFailed>()(
  "SaveFailed",
  {
    path: Schema.String,
    reason: Schema.Literals(["Full", "Denied", "NotFound", "NotAFile", "Other"]),
    description: Schema.String
  },
  ({ description, path }) => `Results.save: ${path} was not written: ${description}`
) {}

/**
 * The errors of `Results.download`.
 *
 * @since 0.1.0
 * @category models
 */
export type DownloadError =
  | ResultChanged
  | ResultMismatch
  | ResultTooLarge
  | InvalidRequest
  | ApiError.RateLimited
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut

/**
 * The errors of `Results.save`.
 *
 * @since 0.1.0
 * @category models
 */
export type SaveError = DownloadError | SaveFailed
