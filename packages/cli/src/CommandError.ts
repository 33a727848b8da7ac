/**
 * Errors of commands: invalid flags and documents, failed uploads, uploads that cannot be forgotten, files that were
 * stored under other paths, an unusable journal, deletions that did not happen, and unknown pages and Templates.
 */
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.ts"

/**
 * A file or the standard input cannot be read, is not valid JSON, or has a content that the command refuses, such as a
 * field that `--fields` sets too. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidDocument extends Schema.TaggedError<InvalidDocument>()("InvalidDocument", {
  path: Schema.String,
  description: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    if (this.path === "") return this.description
    return `${this.path === "-" ? "the standard input" : this.path}: ${this.description}`
  }
}

/**
 * A flag has an invalid value, which was detected only when the command used the value. `code` says why the operating
 * system refused the value, in words or as an error code. `code` is absent if the system did not refuse the value.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidFlag extends Schema.TaggedError<InvalidFlag>()("InvalidFlag", {
  flag: Schema.String,
  value: Schema.String,
  rule: Schema.String,
  code: Schema.optionalKey(Schema.String)
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    const why = this.code === undefined ? "" : ` (${this.code})`
    return `${this.flag}: Expected ${this.rule}, got ${JSON.stringify(this.value)}${why}`
  }
}

/**
 * Nobody agreed to a deletion, so nothing was deleted. `asked` is false if there was no terminal for the question.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", {
  what: Schema.String,
  asked: Schema.Boolean
}) {
  override readonly [Runtime.errorExitCode]: number = this.asked ? ExitCode.codes.failed : ExitCode.codes.usage
  override get message() {
    return this.asked
      ? "nothing was deleted"
      : `nothing was deleted: add --yes to delete ${this.what}, because there is no terminal to ask`
  }
}

/**
 * One of several Templates, Template Credentials or Auth Keys could not be deleted. The message begins with the id or
 * name that the user gave, because the error of the service does not repeat it.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotDeleted extends Schema.TaggedError<NotDeleted>()("NotDeleted", {
  id: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.id}: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

/**
 * An upload failed with `cause`, which determines the error line and the exit code. `assembly` says what the same
 * command does when it is run again: it continues the upload (`kept`), or uploads into a new Assembly (`ended` or
 * `left`). With `left`, no command can continue the upload into the Assembly `assemblyId`, which may not have ended.
 * `isRestarted`: whether the command had `--restart`. If it had, the user must run the command without this flag to
 * continue the upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadFailed extends Schema.TaggedError<UploadFailed>()("UploadFailed", {
  assembly: Schema.Literals(["kept", "ended", "left"]),
  assemblyId: Schema.optionalKey(Schema.String),
  isRestarted: Schema.optionalKey(Schema.Boolean),
  cause: Schema.Defect()
}) {
  override get message() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/**
 * The folder of unfinished uploads cannot be read or written, so nothing more was sent. `isKept`: whether the same
 * command continues the upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnusableJournal extends Schema.TaggedError<UnusableJournal>()("UnusableJournal", {
  folder: Schema.String,
  description: Schema.String,
  isFull: Schema.Boolean,
  isKept: Schema.Boolean
}) {
  override get message() {
    return `${this.folder}: ${this.description}; nothing more is sent, because this folder must record the upload`
  }
}

/**
 * The folder of unfinished uploads cannot be read, so it is not known which uploads are unfinished.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableJournal extends Schema.TaggedError<UnreadableJournal>()("UnreadableJournal", {
  folder: Schema.String,
  description: Schema.String
}) {
  override get message() {
    return `the folder of unfinished uploads ${this.folder} cannot be read: ${this.description}`
  }
}

/**
 * Entries of unfinished uploads are damaged, so no command can continue these uploads. `file` is the path of an entry.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamagedJournal extends Schema.TaggedError<DamagedJournal>()("DamagedJournal", {
  entries: Schema.Array(Schema.Struct({ file: Schema.String, description: Schema.String }))
}) {
  override get message() {
    const [first, ...others] = this.entries
    const rest = others.length === 0 ? "" : `; and ${others.length} more, such as ${others[0]?.file}`
    return `the entry of an unfinished upload is damaged: ${first?.file} (${first?.description})${rest}`
  }
}

/**
 * `assembly uploads forget` cannot forget an upload: no unfinished upload has this Assembly, another process runs the
 * upload, or the upload belongs to another service. The Assembly was not canceled.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotForgotten extends Schema.TaggedError<NotForgotten>()("NotForgotten", {
  assemblyId: Schema.String,
  description: Schema.String
}) {
  override get message() {
    return `${this.assemblyId}: ${this.description}`
  }
}

/**
 * The service stored files under other paths than expected, so a stored file may have replaced another file. `names`
 * are the expected paths of these files, and `files` is the number of all files of the upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoredElsewhere extends Schema.TaggedError<StoredElsewhere>()("StoredElsewhere", {
  names: Schema.Array(Schema.String),
  files: Schema.Int
}) {
  override get message() {
    return `the service stored ${this.names.length} of ${this.files} files under another path than expected, such as ${this.names[0]}; the table and --json show the paths`
  }
}

/**
 * A command asked for a page after the last page of a list. `count` is the number of things on all pages, if the
 * service reports this number.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchPage extends Schema.TaggedError<NoSuchPage>()("NoSuchPage", {
  page: Schema.Int,
  pageSize: Schema.Int,
  what: Schema.String,
  count: Schema.optionalKey(Schema.Int)
}) {
  override get message() {
    if (this.count === undefined) return `there is no page ${this.page}; the first page is 1`
    if (this.count === 0) return `there is no page ${this.page}, because there are no ${this.what}`
    const last = Math.ceil(this.count / this.pageSize)
    return `there is no page ${this.page}: the last page of ${this.count} ${this.what} is ${last} (--page-size ${this.pageSize})`
  }
}

/**
 * The Workspace has no Template with this id or name.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownTemplate extends Schema.TaggedError<UnknownTemplate>()("UnknownTemplate", {
  template: Schema.String
}) {
  override get message() {
    return `there is no Template ${this.template}`
  }
}
