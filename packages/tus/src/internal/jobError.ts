/**
 * The errors of jobs. A job uploads all files of an Assembly.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Schema from "effect/Schema"
import * as JournalError from "./journalError.ts"
import { UploadError } from "../TusError.ts"
import { SourceFailed } from "./source.ts"
import { InvalidTarget } from "../UploadTarget.ts"

/**
 * How the upload of one file of a job ended.
 *
 * - `Completed`: all bytes are stored.
 * - `Failed`: the upload failed with `error`.
 * - `Stopped`: the upload never started, or was stopped because another file failed.
 *
 * @since 0.1.0
 * @category errors
 */
export const FileOutcome = Schema.Union([
  Schema.Struct({ filename: Schema.String, outcome: Schema.Literal("Completed") }),
  Schema.Struct({ filename: Schema.String, outcome: Schema.Literal("Failed"), error: UploadError }),
  Schema.Struct({ filename: Schema.String, outcome: Schema.Literal("Stopped") })
])
/**
 * The type of {@link FileOutcome}.
 *
 * @since 0.1.0
 * @category errors
 */
export type FileOutcome = typeof FileOutcome.Type

const next = {
  canceled: "the Assembly was canceled; run the job again to create another Assembly",
  "not canceled":
    "the Assembly was not canceled; look at its Status: it may have ended, or still wait for files until Assemblies.cancel",
  kept: "the Assembly was kept; upload the missing files to the Assembly, or cancel the Assembly with Assemblies.cancel"
} as const

/**
 * At least one file failed permanently.
 *
 * - `files`: the outcome of each file, in the order of `files` in the options, with the error of each failed file.
 * - `assembly`: what happened to the Assembly. `not canceled` means that the cancellation failed, or that the Assembly
 *   had already ended in another way.
 *
 * @since 0.1.0
 * @category errors
 */
export class FilesFailed extends Expected.TaggedError<FilesFailed>()(
  "FilesFailed",
  {
    assemblyId: Schema.String,
    files: Schema.Array(FileOutcome),
    assembly: Schema.Literals(["canceled", "not canceled", "kept"])
  },
  (error) => {
    const failed = error.files.flatMap((file) =>
      file.outcome === "Failed" ? [`${file.filename}: ${file.error.message}`] : []
    )
    return `${failed.length} of ${error.files.length} files failed: ${failed.join("; ").replace(/\.$/, "")}. ${next[error.assembly]}`
  }
) {}

/**
 * The request with the files of a job (`transport: "form"`) broke, so the Assembly has not completed.
 *
 * - `assemblyIds`: the ids of all Assemblies of the job, in the order of their requests.
 * - `isOver`: whether the service has aborted the last of these Assemblies. If `isOver` is false, nothing shows whether
 *   the service has this Assembly.
 * - `description`: how the request broke.
 *
 * The Steps of each Assembly may have run. With `resend`, the job sends the files again itself.
 *
 * @since 0.1.0
 * @category errors
 */
export class FormBroken extends Expected.TaggedError<FormBroken>()(
  "FormBroken",
  { assemblyIds: Schema.NonEmptyArray(Assembly.AssemblyId), isOver: Schema.Boolean, description: Schema.String },
  (error) => {
    const state = error.isOver ? "the service aborted the Assembly" : "the service may still get the files"
    return `the request with the files broke: ${error.description}; ${state}; its Steps may have run. Get its Status, or run the job again, with \`resend: true\` to send the files again after such a failure`
  }
) {}

/**
 * The Status of a completed Assembly does not prove that the service has the bytes that were read. `expected` describes
 * the bytes that were read, and `actual` describes the Status. `field` says what differs:
 *
 * - `upload`: the Status does not list the file.
 * - `size`: the size in bytes differs, or is unknown.
 * - `md5hash`: the MD5 differs, or is unknown.
 *
 * @since 0.1.0
 * @category errors
 */
export class DeliveryMismatch extends Expected.TaggedError<DeliveryMismatch>()(
  "DeliveryMismatch",
  {
    assemblyId: Schema.String,
    filename: Schema.String,
    field: Schema.Literals(["upload", "size", "md5hash"]),
    expected: Schema.String,
    actual: Schema.String
  },
  (error) => {
    const { actual, expected, field, filename } = error
    if (field === "upload") return `${filename}: the Status does not list the file that was uploaded`
    return `${filename}: the ${field} of the bytes that were read is ${expected}, but the Status says ${actual}`
  }
) {}

/**
 * The errors of `AssemblyUpload`. If the server responds to the upload of a file with an error, and the Status shows
 * that the Assembly has failed, the error is `AssemblyFailed` with the error code of the Assembly, not `FilesFailed`.
 * The errors of the journal occur only with a journal.
 *
 * @since 0.1.0
 * @category errors
 */
export const AssemblyUploadError = Schema.Union([
  FilesFailed,
  FormBroken,
  DeliveryMismatch,
  SourceFailed,
  InvalidTarget,
  ApiError.AssemblyFailed,
  ApiError.AssemblyCanceled,
  ApiError.AssemblyAborted,
  ApiError.AuthenticationFailed,
  InvalidRequest,
  ApiError.RateLimited,
  ApiError.ServiceFailure,
  ApiError.UnexpectedResponse,
  ApiError.TransportFailure,
  ApiError.TimedOut,
  ...JournalError.errors
])

/**
 * The type of {@link AssemblyUploadError}. (`Exclude` keeps its name, which an editor then shows instead of the members.)
 *
 * @since 0.1.0
 * @category errors
 */
export type AssemblyUploadError = Exclude<typeof AssemblyUploadError.Type, never>
