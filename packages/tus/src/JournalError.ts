/**
 * What an upload journal can fail with.
 */
import * as Schema from "effect/Schema"

/**
 * The journal could not be read or written: no space, no permission, no store. Nothing is sent without it. Mend the store
 * and run the upload again.
 *
 * @since 0.1.0
 * @category errors
 */
export class JournalFailed extends Schema.TaggedError<JournalFailed>()("JournalFailed", {
  action: Schema.Literals(["read", "write", "remove", "list", "lease"]),
  problem: Schema.String
}) {
  override get message() {
    return `the upload journal: cannot ${this.action}: ${this.problem}`
  }
}

/**
 * An entry of the journal is invalid: it was torn, edited, or written by another program. `UploadJournal.forget` removes
 * it, and the next run begins another upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class JournalTorn extends Schema.TaggedError<JournalTorn>()("JournalTorn", {
  key: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `the upload journal: the entry ${this.key} is invalid: ${this.problem}; remove it with forget, and run the upload again`
  }
}

/**
 * Another process, or another fiber, runs the same upload. Its lease ends at `until`, in milliseconds since 1970, unless
 * it renews it. Run the upload again after that.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadLeased extends Schema.TaggedError<UploadLeased>()("UploadLeased", {
  key: Schema.String,
  until: Schema.Finite
}) {
  override get message() {
    return `another process runs the upload ${this.key}; wait for it, or run the upload again when it has ended`
  }
}

/**
 * The lease of this upload was lost while it ran: it could not be renewed in time, or another process took it. Nothing
 * more was sent. Run the upload again: it waits for the other process, or continues.
 *
 * @since 0.1.0
 * @category errors
 */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {
  key: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `the lease of the upload ${this.key} was lost: ${this.problem}; run the upload again to continue it`
  }
}

/**
 * The journal has no upload of this key, or only an expired one. `UploadJournal.list` lists the keys.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchUpload extends Schema.TaggedError<NoSuchUpload>()("NoSuchUpload", {
  key: Schema.String
}) {
  override get message() {
    return `the upload journal has no upload ${this.key}; begin it with ResumableUpload.run`
  }
}

/**
 * What the journal can fail with.
 *
 * @since 0.1.0
 * @category errors
 */
export type JournalError = JournalFailed | JournalTorn | UploadLeased | LeaseLost
