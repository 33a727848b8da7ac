/**
 * What the requests of tus, and an upload, can fail with.
 *
 * **Details**
 *
 * An error tells the host of the server, and never a path or a query: whoever has an upload URL may write to it. What the
 * server said is redacted, printable and at most 1,000 characters long (`@assembly-effect/auth/Redaction`).
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Cause from "@assembly-effect/api/unstable/Cause"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/**
 * The requests of the protocol, by the names of their functions in `Tus`.
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

/** Which request failed, and at which host. */
const subject = {
  request: RequestName,
  host: Schema.String
}

/** The code of the server and the id of the request (`x-request-id`), where the answer tells them. */
const told = {
  code: Schema.optionalKey(Schema.String),
  requestId: Schema.optionalKey(Schema.String)
}

/** An answer that is not a success; `message` has what the server said. */
const answer = {
  ...subject,
  status: Schema.Int,
  ...told,
  message: Schema.String
}

const at = ({ host, request }: { readonly request: string; readonly host: string }): string => `${request} at ${host}`

/** The host of an error of a whole upload. It is absent where the error is not about what a server said. */
const server = { host: Schema.optionalKey(Schema.String) }

/**
 * 404 or 410: the server does not have the upload, or no longer. Run the upload again: another one begins.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadGone extends Schema.TaggedError<UploadGone>()("UploadGone", answer) {}

/**
 * 400, 401, 403, 412, any other 4xx, and 501: the server refuses the request, and would refuse it again. Look at the
 * Status of the Assembly: one that is over takes no more files.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadRefused extends Schema.TaggedError<UploadRefused>()("UploadRefused", answer) {}

/**
 * 409: the server is at another offset. The upload asks for it and continues; told when the policy gives up.
 *
 * @since 0.1.0
 * @category errors
 */
export class OffsetConflict extends Schema.TaggedError<OffsetConflict>()("OffsetConflict", answer) {}

/**
 * 413: more bytes than the server takes. `maxSize` is the largest upload that it takes, in bytes, where it told; an
 * upload below it was refused for the size of one request, and a `chunkSize` helps.
 *
 * @since 0.1.0
 * @category errors
 */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", {
  ...answer,
  maxSize: Schema.optionalKey(Schema.BigInt),
  advice: Schema.optionalKey(Schema.Literal("set chunkSize"))
}) {}

/**
 * 423: another request holds the upload. It is retried; told when the policy gives up.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadLocked extends Schema.TaggedError<UploadLocked>()("UploadLocked", answer) {}

/**
 * 460: the bytes that arrived are not the ones that were sent. They are sent again; told when the policy gives up.
 * Beyond the specification (tus 1.0.0).
 *
 * @since 0.1.0
 * @category errors
 */
export class ChecksumMismatch extends Schema.TaggedError<ChecksumMismatch>()("ChecksumMismatch", answer) {}

/**
 * 5xx, 408, 425 and 499: the server could not do it now, or a gateway gave it up. `retryAfter` is how long it asks to
 * wait, where it does.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServerFailure extends Schema.TaggedError<ServerFailure>()("ServerFailure", {
  ...answer,
  retryAfter: Schema.optionalKey(Schema.Duration)
}) {}

/**
 * An answer that tus 1.0.0 or the specification does not allow.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProtocolViolation extends Schema.TaggedError<ProtocolViolation>()("ProtocolViolation", {
  ...subject,
  status: Schema.Int,
  ...told,
  problem: Schema.String
}) {
  override get message() {
    return `${at(this)}: status ${this.status}, ${this.problem}`
  }
}

/**
 * Nothing moved for `after`: no byte was sent, or no answer came after the last one. See `stallTimeout` and
 * `finishTimeout` of an upload, and `Tus.RequestTimeout`.
 *
 * @since 0.1.0
 * @category errors
 */
export class Stalled extends Schema.TaggedError<Stalled>()("Stalled", {
  ...subject,
  after: Schema.Duration
}) {
  override get message() {
    return `${at(this)}: nothing was sent or received for ${Duration.format(this.after)}`
  }
}

/** The error of the last request, where one failed. */
const lost = { cause: Schema.optionalKey(Cause.of<AnswerError | Stalled | ApiError.TransportFailure>()) }

/**
 * The answer to the creation was lost. The upload may exist: the receipts of the Assembly (`tus_uploads`) do not tell,
 * and the creation was not repeated.
 *
 * **Details**
 *
 * Look at the Status of the Assembly. If it does not list the file, run the upload again; a `ResumableUpload` looks at
 * the receipts again, and `UploadJournal.forget` makes it begin anew. If in doubt, begin another Assembly.
 *
 * @since 0.1.0
 * @category errors
 */
export class CreationUnknown extends Schema.TaggedError<CreationUnknown>()("CreationUnknown", {
  host: Schema.String,
  problem: Schema.String,
  ...lost
}) {
  override get message() {
    return `the answer to the creation at ${this.host} was lost (${this.problem}), so the upload may exist; look at the tus_uploads of the Assembly before you upload the file again`
  }
}

/**
 * The parts are stored, and the answer to the request that puts them together was lost, or the server does not say that
 * it has finished. The file may exist: the receipts of the Assembly do not tell, and the request was not repeated.
 *
 * **Details**
 *
 * The way out is that of {@link CreationUnknown}.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConcatenationUnknown extends Schema.TaggedError<ConcatenationUnknown>()("ConcatenationUnknown", {
  host: Schema.String,
  problem: Schema.String,
  ...lost
}) {
  override get message() {
    return `the server ${this.host} did not confirm that it put the parts together (${this.problem}), so the file may exist; look at the tus_uploads of the Assembly before you upload the file again`
  }
}

/**
 * The server lists its extensions of tus 1.0.0, without the one that an option needs. Nothing was created; run the
 * upload without the option.
 *
 * @since 0.1.0
 * @category errors
 */
export class ExtensionMissing extends Schema.TaggedError<ExtensionMissing>()("ExtensionMissing", {
  host: Schema.String,
  option: Schema.Literal("parallel"),
  extension: Schema.Literal("concatenation"),
  offered: Schema.Array(Schema.String)
}) {
  override get message() {
    return `the server ${this.host} does not offer ${this.extension}, only ${this.offered.join(", ")}; run the upload without the option ${this.option}`
  }
}

/**
 * The server counts other bytes than the ones that were sent: something in between dropped, repeated or changed some.
 * What is stored may be wrong, so nothing more is sent to this upload.
 *
 * `mayBeWhole` says whether the server may take what it has for a whole file, and its Assembly for an input. Then cancel
 * the Assembly and upload the file to another one. Otherwise upload the file again: a `ResumableUpload` with
 * `restart: true`.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadUntrusted extends Schema.TaggedError<UploadUntrusted>()("UploadUntrusted", {
  ...server,
  problem: Schema.String,
  mayBeWhole: Schema.Boolean
}) {
  override get message() {
    const next = this.mayBeWhole
      ? "cancel the Assembly, which may use them, and upload the file to another one"
      : "upload the file again (with restart: true where a journal knows the upload)"
    return `the server${this.host === undefined ? "" : ` ${this.host}`} may have stored other bytes than the ones that were sent (${this.problem}); ${next}`
  }
}

/**
 * The upload at this URL, or the source at hand, is not the one that was begun: they differ in `field`. Continue with the
 * source that the upload was begun with, or begin another upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadMismatch extends Schema.TaggedError<UploadMismatch>()("UploadMismatch", {
  ...server,
  field: Schema.Literals(["upload-length", "upload-offset", "upload-metadata", "size", "fingerprint"]),
  expected: Schema.String,
  found: Schema.String
}) {
  /** What differs, without the advice that ends the message. */
  get problem() {
    const where = this.host === undefined ? this.field : `${this.field} at ${this.host}`
    return `${where}: expected ${this.expected}, found ${this.found}`
  }

  override get message() {
    const next =
      this.field === "size" || this.field === "fingerprint"
        ? "give the source that the upload was begun with"
        : "begin another upload (with restart: true where a journal knows this one)"
    return `${this.problem}; ${next}`
  }
}

/**
 * What one answer of the server can mean.
 *
 * @since 0.1.0
 * @category errors
 */
export type AnswerError =
  | UploadGone
  | UploadRefused
  | OffsetConflict
  | TooLarge
  | UploadLocked
  | ChecksumMismatch
  | ServerFailure
  | ProtocolViolation
  | ApiError.RateLimited
