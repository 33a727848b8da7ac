/**
 * What an upload journal can fail with.
 */
import * as Schema from "effect/Schema"

/** The journal could not be read or written: no space, no permission, no store. Nothing is sent without it. */
export class JournalFailed extends Schema.TaggedError<JournalFailed>()("JournalFailed", {
  action: Schema.Literals(["read", "write", "remove", "list", "lease"]),
  problem: Schema.String
}) {
  override get message() {
    return `the upload journal: cannot ${this.action}: ${this.problem}`
  }
}

/** An entry is not one: it was torn, or written by somebody else. `forget` it, and the upload starts over. */
export class JournalTorn extends Schema.TaggedError<JournalTorn>()("JournalTorn", {
  key: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `the upload journal: the entry ${this.key} cannot be understood: ${this.problem}`
  }
}

/**
 * Another process, or another fiber, is at work on the same upload. Its lease runs out at `until`, in milliseconds
 * since 1970, unless it is alive and renews it.
 */
export class UploadLeased extends Schema.TaggedError<UploadLeased>()("UploadLeased", {
  key: Schema.String,
  until: Schema.Finite
}) {
  override get message() {
    return `the upload ${this.key} is at work elsewhere`
  }
}

/**
 * The lease of this upload was lost while it ran: it could not be renewed in time, or another holder took it. Nothing
 * more was sent. Run the upload again: it waits for the other holder, or continues.
 */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {
  key: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `the lease of the upload ${this.key} was lost: ${this.problem}; run the upload again to continue it`
  }
}

/** The journal has no upload of this key, or none that is not expired. */
export class NoSuchUpload extends Schema.TaggedError<NoSuchUpload>()("NoSuchUpload", {
  key: Schema.String
}) {
  override get message() {
    return `the upload journal has no upload ${this.key}`
  }
}

/** What the journal can fail with. */
export type JournalError = JournalFailed | JournalTorn | UploadLeased | LeaseLost
