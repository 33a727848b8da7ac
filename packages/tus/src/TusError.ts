/**
 * The errors of tus requests and of uploads.
 *
 * **Details**
 *
 * An error names a server only by its host, because an upload URL grants write access. Text from the server is
 * redacted, made printable, and cut after at most 1,000 characters (`@assembly-effect/auth/Redaction`).
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as ApiError from "@assembly-effect/api/ApiError"
import { cause } from "@assembly-effect/api/unstable/ErrorDetails"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as JournalError from "./internal/journalError.ts"
import { SourceFailed } from "./internal/source.ts"
import { InvalidTarget, UnsafeLocation } from "./UploadTarget.ts"

/**
 * The requests that the functions of `Tus` send, by the names of these functions.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RequestName = Schema.Literals(["create", "offset", "append", "terminate", "discover", "download"])
/**
 * The type of {@link RequestName}.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestName = typeof RequestName.Type

/** The failed request, and the host of the server. */
const subject = { request: RequestName, host: Schema.String }

/**
 * A response that is not a success. `description` is the text of the server, `code` its error code, and `requestId` the
 * id of the request (`x-request-id`), if the response contains them.
 */
const answer = {
  ...subject,
  status: Schema.Int,
  code: Schema.optionalKey(Schema.String),
  requestId: Schema.optionalKey(Schema.String),
  description: Schema.String
}

type Subject = Schema.Struct.Type<typeof subject>

const at = ({ host, request }: Subject): string => `${request} at ${host}`

/** A message that has the text of the server, and then an advice. */
const saying =
  (advice = "") =>
  (error: Subject & { readonly description: string }): string =>
    `${at(error)}: ${error.description}${advice}`

/** The host of the server, in an error about a whole upload. `host` is absent if the error is only about the source. */
const server = { host: Schema.optionalKey(Schema.String) }

/**
 * 404 or 410 for the URL of an upload: the server does not have the upload, or no longer has it. Run the upload again
 * to start a new one.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadGone extends Expected.TaggedError<UploadGone>()(
  "UploadGone",
  answer,
  saying("; run the upload again to start a new upload")
) {}

/**
 * 400, 401, 403, 412, any other 4xx for which there is no other error, and 501: the server refuses the request, and a
 * retry would fail too. Look at the Status of the Assembly: an Assembly that has ended accepts no more files. 404 or 410
 * for a `create` or `discover` request: the server, or a gateway before it, does not have the `tus_url`.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadRefused extends Expected.TaggedError<UploadRefused>()("UploadRefused", answer, saying()) {}

/**
 * 409: the request had another offset than the upload on the server. `Upload` requests the offset from the server and
 * continues there. `Upload` fails with this error when the retry policy gives up.
 *
 * @since 0.1.0
 * @category errors
 */
export class OffsetConflict extends Expected.TaggedError<OffsetConflict>()("OffsetConflict", answer, saying()) {}

/**
 * 413: the upload or the request has more bytes than the server accepts. If the server refuses bytes of an existing
 * upload, `Upload` requests the size of the largest permitted upload. `maxSize` is this size in bytes, if the server
 * reports it. After a refused creation, `maxSize` is absent. If the upload is not larger than `maxSize`, a proxy in front
 * of the service refused the request: `Upload` halves the size of its requests, down to 256 KiB, and remembers the size
 * that passed for an hour. `tried` are the sizes of the refused requests, in bytes.
 *
 * @since 0.1.0
 * @category errors
 */
export class TooLarge extends Expected.TaggedError<TooLarge>()(
  "TooLarge",
  { ...answer, maxSize: Schema.optionalKey(Schema.BigInt), tried: Schema.optionalKey(Schema.Array(Schema.Finite)) },
  (error) => {
    const tried = error.tried === undefined ? "" : `; refused sizes of a request in bytes: ${error.tried.join(", ")}`
    return `${at(error)}: ${error.description}${tried}`
  }
) {}

/**
 * 423: the server has locked the upload for another request. `Upload` tries again after a pause, and fails with this
 * error when the retry policy gives up.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadLocked extends Expected.TaggedError<UploadLocked>()("UploadLocked", answer, saying()) {}

/**
 * 460: the received bytes differ from the sent bytes. `Upload` sends the bytes again, and fails with this error when
 * the retry policy gives up. tus 1.0.0 (checksum) defines this status; the specification of the service does not.
 *
 * @since 0.1.0
 * @category errors
 */
export class ChecksumMismatch extends Expected.TaggedError<ChecksumMismatch>()("ChecksumMismatch", answer, saying()) {}

/**
 * 408, 425, 499, and any 5xx except 501: a temporary failure of the server or of a gateway. `retryAfter` is the pause
 * that the server requests, if any.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServerFailure extends Expected.TaggedError<ServerFailure>()(
  "ServerFailure",
  { ...answer, retryAfter: Schema.optionalKey(Rules.elapsed) },
  saying()
) {}

/**
 * A response that tus 1.0.0 or the specification of the service does not permit.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProtocolViolation extends Expected.TaggedError<ProtocolViolation>()(
  "ProtocolViolation",
  answer,
  (error) => `${at(error)}: status ${error.status}, ${error.description}`
) {}

/**
 * A request reached its time limit `after`: in this time, no byte of the body was sent, no response arrived, or no
 * piece of a download arrived. See `stallTimeout` and `finishTimeout` of an upload, and `Tus.RequestTimeout`.
 *
 * @since 0.1.0
 * @category errors
 */
export class Stalled extends Expected.TaggedError<Stalled>()(
  "Stalled",
  { ...subject, after: Rules.elapsed },
  (error) => `${at(error)}: nothing was sent or received for ${Duration.format(error.after)}`
) {}

/**
 * No response shows whether the server created the upload, or concatenated its parts, and the receipts of the Assembly
 * (`tus_uploads`) do not show the upload. The file may still exist, so the request was not repeated. `cause` is the error
 * of the last tus request, if there is one.
 *
 * **Details**
 *
 * Look at the Status of the Assembly. If the Status does not list the file, run the upload again. With a journal, the next
 * run reads the receipts again; after `UploadJournal.forget`, the next run starts a new upload. If you
 * are not sure whether the upload exists, start a new Assembly.
 *
 * @since 0.1.0
 * @category errors
 */
export class CreationUnknown extends Expected.TaggedError<CreationUnknown>()(
  "CreationUnknown",
  {
    host: Schema.String,
    description: Schema.String,
    cause: Schema.optionalKey(cause<AnswerError | Stalled | ApiError.TransportFailure>())
  },
  (error) =>
    `no response from ${error.host} shows whether the upload was created (${error.description}); check the tus_uploads of the Assembly before you upload the file again`
) {}

/**
 * The stored bytes may be wrong, for example because the server reports another number of bytes than were sent. No more
 * bytes are sent to this upload.
 *
 * `mayBeWhole` is true if the server may treat the stored bytes as a complete file. The Assembly may then use this file
 * as input, so cancel the Assembly and upload the file to a new Assembly. If `mayBeWhole` is false, upload the file
 * again, with `restart: true` if the upload is in a journal.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadUntrusted extends Expected.TaggedError<UploadUntrusted>()(
  "UploadUntrusted",
  { ...server, description: Schema.String, mayBeWhole: Schema.Boolean },
  (error) => {
    const next = error.mayBeWhole
      ? "cancel the Assembly, which may use these bytes, and upload the file to another Assembly"
      : "upload the file again (with restart: true if the upload is in a journal)"
    return `the server${error.host === undefined ? "" : ` ${error.host}`} may have stored wrong bytes (${error.description}); ${next}`
  }
) {}

/**
 * The upload on the server, or the given source, differs in `field` from the upload that was started. Continue with the
 * original source, or start a new upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadMismatch extends Expected.TaggedError<UploadMismatch>()("UploadMismatch", {
  ...server,
  field: Schema.Literals(["upload-length", "upload-offset", "upload-metadata", "size", "fingerprint"]),
  expected: Schema.String,
  found: Schema.String
}) {
  /**
   * What differs: the field, its expected value and its found value. `description` is the text of `message` without the
   * advice at its end.
   */
  get description() {
    const where = this.host === undefined ? this.field : `${this.field} at ${this.host}`
    return `${where}: expected ${this.expected}, found ${this.found}`
  }

  override get message() {
    const next =
      this.field === "size" || this.field === "fingerprint"
        ? "use the source that the upload was started with"
        : "start a new upload (with restart: true if the upload is in a journal)"
    return `${this.description}; ${next}`
  }
}

const answers = [
  UploadGone,
  UploadRefused,
  OffsetConflict,
  TooLarge,
  UploadLocked,
  ChecksumMismatch,
  ServerFailure,
  ProtocolViolation,
  ApiError.RateLimited
] as const

/**
 * The errors that the response to any request of `Tus` can cause. The response to `Tus.create` can also cause
 * `UnsafeLocation`.
 *
 * @since 0.1.0
 * @category errors
 */
export type AnswerError = InstanceType<(typeof answers)[number]>

/**
 * The errors of `Upload`, as a Schema, so that an error can be stored or sent. The errors of the journal
 * (`JournalFailed`, `JournalTorn`, `UploadLeased`, `LeaseLost`) and `InvalidTarget` occur only with a journal.
 *
 * @example
 * const encode = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(TusError.UploadError)))
 *
 * @since 0.1.0
 * @category errors
 */
export const UploadError = Schema.Union([
  ...answers,
  Stalled,
  CreationUnknown,
  UploadMismatch,
  UploadUntrusted,
  UnsafeLocation,
  InvalidTarget,
  SourceFailed,
  ...JournalError.errors,
  InvalidRequest,
  ApiError.TransportFailure
])

/**
 * The type of {@link UploadError}. (`Exclude` keeps its name, which an editor then shows instead of the members.)
 *
 * @since 0.1.0
 * @category errors
 */
export type UploadError = Exclude<typeof UploadError.Type, never>
