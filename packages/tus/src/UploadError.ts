/**
 * The errors of uploads. Each union is also a Schema, so that an error can be stored or sent.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Schema from "effect/Schema"
import * as JournalError from "./JournalError.ts"
import * as TusError from "./TusError.ts"
import { SourceFailed } from "./UploadSource.ts"
import { InvalidTarget, UnsafeLocation } from "./UploadTarget.ts"

const upload = [
  TusError.UploadGone,
  TusError.UploadRefused,
  TusError.OffsetConflict,
  TusError.TooLarge,
  TusError.UploadLocked,
  TusError.ChecksumMismatch,
  TusError.ServerFailure,
  TusError.ProtocolViolation,
  TusError.Stalled,
  TusError.CreationUnknown,
  TusError.ConcatenationUnknown,
  TusError.ExtensionMissing,
  TusError.UploadMismatch,
  TusError.UploadUntrusted,
  UnsafeLocation,
  SourceFailed,
  InvalidRequest,
  ApiError.RateLimited,
  ApiError.TransportFailure
] as const

/**
 * The errors of `Upload`.
 *
 * @example
 * const encode = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(UploadError.UploadError)))
 *
 * @since 0.1.0
 * @category errors
 */
export const UploadError = Schema.Union(upload)
/**
 * The type of {@link UploadError}.
 *
 * @since 0.1.0
 * @category errors
 */
export type UploadError =
  | TusError.UploadGone
  | TusError.UploadRefused
  | TusError.OffsetConflict
  | TusError.TooLarge
  | TusError.UploadLocked
  | TusError.ChecksumMismatch
  | TusError.ServerFailure
  | TusError.ProtocolViolation
  | TusError.Stalled
  | TusError.CreationUnknown
  | TusError.ConcatenationUnknown
  | TusError.ExtensionMissing
  | TusError.UploadMismatch
  | TusError.UploadUntrusted
  | UnsafeLocation
  | SourceFailed
  | InvalidRequest
  | ApiError.RateLimited
  | ApiError.TransportFailure

/**
 * The errors of `ResumableUpload`: the errors of an upload, of the journal, and of a target that the journal contains.
 *
 * @since 0.1.0
 * @category errors
 */
export const ResumableUploadError = Schema.Union([
  ...upload,
  InvalidTarget,
  JournalError.JournalFailed,
  JournalError.JournalTorn,
  JournalError.UploadLeased,
  JournalError.LeaseLost
])
/**
 * The type of {@link ResumableUploadError}.
 *
 * @since 0.1.0
 * @category errors
 */
export type ResumableUploadError =
  | TusError.UploadGone
  | TusError.UploadRefused
  | TusError.OffsetConflict
  | TusError.TooLarge
  | TusError.UploadLocked
  | TusError.ChecksumMismatch
  | TusError.ServerFailure
  | TusError.ProtocolViolation
  | TusError.Stalled
  | TusError.CreationUnknown
  | TusError.ConcatenationUnknown
  | TusError.ExtensionMissing
  | TusError.UploadMismatch
  | TusError.UploadUntrusted
  | UnsafeLocation
  | InvalidTarget
  | SourceFailed
  | JournalError.JournalFailed
  | JournalError.JournalTorn
  | JournalError.UploadLeased
  | JournalError.LeaseLost
  | InvalidRequest
  | ApiError.RateLimited
  | ApiError.TransportFailure
