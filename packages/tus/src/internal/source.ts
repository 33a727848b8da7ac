/**
 * The kinds of sources.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { SourceFailed } from "./sourceFailed.ts"

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
