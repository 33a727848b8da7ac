/**
 * What an upload can fail with.
 */
import * as Schema from "effect/Schema"

/** What the server said, and to which request. */
const answer = {
  request: Schema.Literals(["create", "offset", "append"]),
  status: Schema.Int,
  message: Schema.String
}

/** 404 or 410: the server does not know the upload, or no longer. */
export class UploadGone extends Schema.TaggedError<UploadGone>()("UploadGone", answer) {}

/** 400, 401, 403, 412 and any other 4xx: the server does not accept the request, and repeating it would not help. */
export class UploadRefused extends Schema.TaggedError<UploadRefused>()("UploadRefused", answer) {}

/** 409: the server stands at another offset. */
export class OffsetConflict extends Schema.TaggedError<OffsetConflict>()("OffsetConflict", answer) {}

/** 413: more bytes than the server takes. */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", answer) {}

/** 423: another request holds the upload. */
export class UploadLocked extends Schema.TaggedError<UploadLocked>()("UploadLocked", answer) {}

/** 5xx or 429: the server could not do it now. */
export class ServerFailure extends Schema.TaggedError<ServerFailure>()("ServerFailure", answer) {}

/** An answer that tus 1.0.0 or the specification does not allow. */
export class ProtocolViolation extends Schema.TaggedError<ProtocolViolation>()("ProtocolViolation", {
  request: Schema.Literals(["create", "offset", "append"]),
  status: Schema.Int,
  problem: Schema.String
}) {
  override get message() {
    return `${this.request}: status ${this.status}, ${this.problem}`
  }
}

/**
 * The answer to the creation was lost: whether an upload exists is not known, and nothing was repeated. The Assembly's
 * `tus_uploads` tell.
 */
export class CreationUnknown extends Schema.TaggedError<CreationUnknown>()("CreationUnknown", {
  problem: Schema.String
}) {
  override get message() {
    return `the answer to the creation was lost (${this.problem}); the upload may exist`
  }
}

/** The upload at this URL is not the one that was begun: the server tells another length. */
export class UploadMismatch extends Schema.TaggedError<UploadMismatch>()("UploadMismatch", {
  field: Schema.Literals(["upload-length", "upload-offset"]),
  expected: Schema.String,
  found: Schema.String
}) {
  override get message() {
    return `${this.field}: expected ${this.expected}, the server has ${this.found}`
  }
}
