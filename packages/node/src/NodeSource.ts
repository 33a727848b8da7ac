/**
 * Sources of uploads that need Node.
 */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Stream from "effect/Stream"
import type { Readable } from "node:stream"

/**
 * A `Readable` of bytes, which can be read once. `evaluate` is called when the upload starts to read.
 *
 * **Details**
 *
 * The stream is read only as fast as its bytes are sent. When the upload ends, fails or is interrupted, the stream is
 * destroyed. If `evaluate` throws, if the stream fails or closes early, or if it emits anything but bytes (object mode,
 * `setEncoding`), the error is `SourceFailed`.
 *
 * **Gotchas**
 *
 * Make the stream within `evaluate` if you can. If a stream fails while nothing listens for its errors, Node ends the
 * process. The upload listens only after it has started to read.
 *
 * @example NodeSource.fromReadable(() => createReadStream("video.mp4").pipe(createGzip()))
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromReadable = (
  evaluate: LazyArg<Readable>,
  options?: { readonly size?: bigint | undefined }
): UploadSource.OneShot =>
  UploadSource.fromStream(
    Stream.unwrap(
      Effect.map(Effect.try({ try: evaluate, catch: UploadSource.failedWith }), (readable) =>
        // With `chunkSize: 1`, each pull reads once. A pull of several reads could hold much memory, because a stream
        // may refill its buffer at each read.
        NodeStream.fromReadable({ evaluate: () => readable, onError: UploadSource.failedWith, chunkSize: 1 })
      )
    ),
    options
  )
