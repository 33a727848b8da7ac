/**
 * What an upload can fail with. None tells an upload URL: whoever has it may write. `message` is what the server said,
 * redacted, printable and of at most 1,000 characters (`@assembly-effect/auth/Redaction`).
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/** The requests of the protocol, by the names of their functions in `Tus`. */
export const RequestName = Schema.Literals(["create", "offset", "append", "terminate", "discover", "download"])
export type RequestName = typeof RequestName.Type

/** What the server said, and to which request. */
const answer = {
  request: RequestName,
  status: Schema.Int,
  message: Schema.String
}

/** 404 or 410: the server does not know the upload, or no longer. */
export class UploadGone extends Schema.TaggedError<UploadGone>()("UploadGone", answer) {}

/** 400, 401, 403, 412, any other 4xx, and 501: the server does not accept the request, and repeating it would not help. */
export class UploadRefused extends Schema.TaggedError<UploadRefused>()("UploadRefused", answer) {}

/** 409: the server stands at another offset. */
export class OffsetConflict extends Schema.TaggedError<OffsetConflict>()("OffsetConflict", answer) {}

/**
 * 413: more bytes than the server takes. `maxSize` is the largest upload that it takes, in bytes, where it told; an
 * upload below it was refused for the size of one request, and a `chunkSize` helps.
 */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", {
  ...answer,
  maxSize: Schema.optionalKey(Schema.BigInt),
  advice: Schema.optionalKey(Schema.Literal("set chunkSize"))
}) {}

/** 423: another request holds the upload. */
export class UploadLocked extends Schema.TaggedError<UploadLocked>()("UploadLocked", answer) {}

/** 460: the bytes that arrived are not the ones that were sent. Beyond the specification (tus 1.0.0). */
export class ChecksumMismatch extends Schema.TaggedError<ChecksumMismatch>()("ChecksumMismatch", answer) {}

/**
 * 5xx, 408, 425 and 499: the server could not do it now, or a gateway gave it up. `retryAfter` is how long it asks to
 * wait, where it does.
 */
export class ServerFailure extends Schema.TaggedError<ServerFailure>()("ServerFailure", {
  ...answer,
  retryAfter: Schema.optionalKey(Schema.Duration)
}) {}

/** An answer that tus 1.0.0 or the specification does not allow. */
export class ProtocolViolation extends Schema.TaggedError<ProtocolViolation>()("ProtocolViolation", {
  request: RequestName,
  status: Schema.Int,
  problem: Schema.String
}) {
  override get message() {
    return `${this.request}: status ${this.status}, ${this.problem}`
  }
}

/**
 * No sign of life for `after`: no byte left while sending, no answer came after the last one, or none to a body that is
 * sent as a whole.
 */
export class Stalled extends Schema.TaggedError<Stalled>()("Stalled", {
  request: RequestName,
  after: Schema.Duration
}) {
  override get message() {
    return `${this.request}: no sign of life for ${Duration.format(this.after)}`
  }
}

/**
 * The answer to the creation was lost: whether an upload exists is not known, the Assembly's `tus_uploads` do not tell,
 * and nothing was repeated.
 */
export class CreationUnknown extends Schema.TaggedError<CreationUnknown>()("CreationUnknown", {
  problem: Schema.String
}) {
  override get message() {
    return `the answer to the creation was lost (${this.problem}); the upload may exist`
  }
}

/**
 * The parts are stored, and whether they are one file now is not known: the answer to the final concatenation was lost,
 * or the server does not say that its work on it is done. The Assembly's `tus_uploads` do not tell either, and nothing
 * was repeated.
 */
export class ConcatenationUnknown extends Schema.TaggedError<ConcatenationUnknown>()("ConcatenationUnknown", {
  problem: Schema.String
}) {
  override get message() {
    return `whether the parts are one file now is not known (${this.problem}); the file may exist`
  }
}

/**
 * The server says what it offers, and the extension of tus 1.0.0 that an option needs is not among it. Nothing was
 * created; without the option the upload may succeed.
 */
export class ExtensionMissing extends Schema.TaggedError<ExtensionMissing>()("ExtensionMissing", {
  option: Schema.Literal("parallel"),
  extension: Schema.Literal("concatenation"),
  offered: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${this.option}: the server does not offer ${this.extension}, only ${this.offered.join(", ")}`
  }
}

/**
 * The server counts other bytes than the ones that were handed over: something in between dropped, repeated or changed
 * some. What is stored under this URL may be wrong, so nothing more is sent there.
 *
 * `mayBeWhole` says whether the server may take what it has for a whole file, and its Assembly for one of its inputs:
 * the last offset that it told is not before the end, or it told none after it was given every byte.
 */
export class UploadUntrusted extends Schema.TaggedError<UploadUntrusted>()("UploadUntrusted", {
  problem: Schema.String,
  mayBeWhole: Schema.Boolean
}) {
  override get message() {
    return `the server may have stored other bytes than the ones that were sent (${this.problem})`
  }
}

/** The upload at this URL, or the source at hand, is not the one that was begun: they differ in `field`. */
export class UploadMismatch extends Schema.TaggedError<UploadMismatch>()("UploadMismatch", {
  field: Schema.Literals(["upload-length", "upload-offset", "upload-metadata", "size", "fingerprint"]),
  expected: Schema.String,
  found: Schema.String
}) {
  override get message() {
    return `${this.field}: expected ${this.expected}, found ${this.found}`
  }
}
