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
 * - `read(start, end)`: returns the same bytes in memory instead of as a stream. `read` may return only the first part
 *   of these bytes. `read` is defined only if it is less work than a stream. An upload calls `read` only for small
 *   ranges.
 *
 * @since 0.1.0
 * @category models
 */
export interface Replayable {
  readonly _tag: "Replayable"
  readonly size: bigint
  readonly bytes: (start: bigint, end: bigint) => Stream.Stream<Uint8Array, SourceFailed>
  readonly identity: Effect.Effect<string | undefined, SourceFailed>
  readonly read?: ((start: bigint, end: bigint) => Effect.Effect<Uint8Array, SourceFailed>) | undefined
}

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
