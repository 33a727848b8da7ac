/**
 * The error of a source.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const remedy = {
  Unreadable: "check the source, and try again",
  TooShort: "set size to the actual size of the source",
  TooLong: "set size to the actual size of the source",
  Changed: "run the upload again when no process writes to the source",
  NotReplayable: "use a larger chunkSize, or a source that can be read again"
} as const

/**
 * The source failed, for the reason `kind`. An upload never retries after this failure, in contrast to a failure of the
 * network.
 *
 * - `Unreadable`: reading failed. Repair the source and run the upload again.
 * - `TooShort`, `TooLong`: the number of bytes differs from `size`. Give the correct size.
 * - `Changed`: the source changed during the upload, or its Blob can no longer be read. Upload the source again when no
 *   process writes to it.
 * - `NotReplayable`: the upload of a one-shot stream must continue at an offset whose bytes are not in memory. Use a
 *   larger `chunkSize`, or a source that can be read again.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceFailed extends Expected.TaggedError<SourceFailed>()("SourceFailed", {
  kind: Schema.Literals(["Unreadable", "TooShort", "TooLong", "Changed", "NotReplayable"]),
  description: Schema.String
}) {
  override get message() {
    return `the upload source failed: ${this.description}; ${remedy[this.kind]}`
  }
}

/** Recognises an error by its tag, because a second copy of this package has another class. */
const isSourceFailed = (error: unknown): error is SourceFailed => Predicate.isTagged(error, "SourceFailed")

/** Whether a value is an `Error`, possibly of another realm. */
const isError = (value: unknown): value is Error => /Error|Exception/.test(Object.prototype.toString.call(value))

/** Describes the error of a stream, if the error is not an instance of `Error`. */
const shown = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return String(error)
  return Predicate.hasProperty(error, "_tag") ? String(error._tag) : "a value that is not an Error"
}

/**
 * The error of a source whose stream failed with `error`. A `SourceFailed` stays as it is. Of an object that is not an
 * `Error`, only the `_tag` is shown.
 *
 * @since 0.1.0
 * @category errors
 */
export const failedWith = (error: unknown): SourceFailed =>
  isSourceFailed(error)
    ? error
    : new SourceFailed({
        kind: "Unreadable",
        description: isError(error) ? error.message : `reading failed with ${shown(error)}`
      })
