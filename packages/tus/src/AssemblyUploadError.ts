/**
 * What the upload of all files of an Assembly can fail with.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Schema from "effect/Schema"
import type { JournalError } from "./JournalError.ts"
import type { SourceFailed } from "./UploadSource.ts"
import type { InvalidTarget } from "./UploadTarget.ts"

/** What became of a file: `Stopped` is one that another's failure ended or kept from its turn. */
export const FileOutcome = Schema.Struct({
  filename: Schema.String,
  outcome: Schema.Literals(["Completed", "Failed", "Stopped"]),
  problem: Schema.optionalKey(Schema.String)
})
export type FileOutcome = typeof FileOutcome.Type

/** A file failed for good. What became of each file, in their order, and whether the Assembly was canceled. */
export class FilesFailed extends Schema.TaggedError<FilesFailed>()("FilesFailed", {
  assemblyId: Schema.String,
  files: Schema.Array(FileOutcome),
  assembly: Schema.Literals(["canceled", "not canceled", "kept"])
}) {
  override get message() {
    const failed = this.files.filter(({ outcome }) => outcome === "Failed")
    return `${failed.length} of ${this.files.length} files failed, the Assembly was ${this.assembly}: ${failed
      .map(({ filename, problem }) => `${filename}: ${problem}`)
      .join("; ")}`
  }
}

/**
 * What `AssemblyUpload` can fail with. An Assembly that fails while files are still uploaded is `AssemblyFailed` with the
 * Assembly's own code, not `FilesFailed`.
 */
export type AssemblyUploadError =
  | FilesFailed
  | SourceFailed
  | InvalidTarget
  | ApiError.AssemblyFailed
  | ApiError.AssemblyCanceled
  | ApiError.AssemblyAborted
  | ApiError.AuthenticationFailed
  | ApiError.Common

/** What `ResumableAssemblyUpload` can fail with. */
export type ResumableAssemblyUploadError = AssemblyUploadError | JournalError
