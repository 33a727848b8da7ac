/**
 * The kinds of sources.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/**
 * Bytes of a known size that can be read again from any offset.
 *
 * - `size`: the size in bytes.
 * - `bytes(start, end)`: the bytes from `start` (inclusive) to `end` (exclusive).
 * - `identity`: identifies the content, so that a resumed upload can check that the content is the same. The result is
 *   undefined if the source has no identity.
 *
 * @since 0.1.0
 * @category models
 */
export interface Replayable {
  readonly _tag: "Replayable"
  readonly size: bigint
  readonly bytes: (start: bigint, end: bigint) => Stream.Stream<Uint8Array, SourceFailed>
  readonly identity: Effect.Effect<string | undefined, SourceFailed>
}

/** Returns all bytes of a source in memory, with less work than its stream. */
type ReadWhole = Effect.Effect<Uint8Array, SourceFailed>

/** The keys are the functions `bytes`, so that a source that was made from another, with other bytes, is not found. */
const wholes = new WeakMap<Replayable["bytes"], ReadWhole>()

/** Registers how all bytes of a source are read into memory. */
export const withWhole = (source: Replayable, whole: ReadWhole | undefined): Replayable => {
  if (whole !== undefined) wholes.set(source.bytes, whole)
  return source
}

/** How all bytes of a source are read into memory, if this is less work than its stream. */
export const wholeOf = (source: Replayable): ReadWhole | undefined => wholes.get(source.bytes)

/**
 * Bytes that can be read once. `size` is undefined if it is unknown. The upload keeps in memory the bytes that were
 * read and that the server has not acknowledged yet.
 *
 * @since 0.1.0
 * @category models
 */
export interface OneShot {
  readonly _tag: "OneShot"
  readonly size: bigint | undefined
  readonly stream: Stream.Stream<Uint8Array, SourceFailed>
}

/**
 * The source of an upload.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadSource = Replayable | OneShot

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
export class SourceFailed extends Expected.TaggedError<SourceFailed>()(
  "SourceFailed",
  {
    kind: Schema.Literals(["Unreadable", "TooShort", "TooLong", "Changed", "NotReplayable"]),
    description: Schema.String
  },
  (error) => `the upload source failed: ${error.description}; ${remedy[error.kind]}`
) {}

export const sourceFailed = (kind: SourceFailed["kind"], description: string) => new SourceFailed({ kind, description })

/** Recognises an error by its tag, because a second copy of this package has another class. */
const isSourceFailed = (error: unknown): error is SourceFailed => Predicate.isTagged(error, "SourceFailed")

/** Whether a value is an `Error`, possibly of another realm. */
const isError = (value: unknown): value is Error => /Error|Exception/.test(Object.prototype.toString.call(value))

/** Describes the error of a stream, if the error is not an instance of `Error`. */
const shown = (error: unknown): string => {
  if (Predicate.hasProperty(error, "_tag")) return String(error._tag)
  return Predicate.isObjectKeyword(error) ? "a value that is not an Error" : String(error)
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
    : sourceFailed("Unreadable", isError(error) ? error.message : `reading failed with ${shown(error)}`)
