/**
 * Sources of uploads that need Node.
 */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Stream from "effect/Stream"
import { Readable } from "node:stream"

/**
 * The reason why a value cannot be uploaded: it is not a stream, it has failed or ended, or some of its bytes were
 * already read. The result is undefined if the value can be uploaded.
 */
const problemOf = (readable: Readable): string | undefined => {
  // A caller in JavaScript may return anything.
  if (typeof (readable as Partial<Readable> | undefined | null)?.on !== "function")
    return "evaluate returned no Readable"
  if (readable.errored instanceof Error) return UploadSource.failedWith(readable.errored).description
  if (!readable.readable) return "the Readable has already ended, or was destroyed"
  if (Readable.isDisturbed(readable)) return "bytes of the Readable were already read"
  return undefined
}

/**
 * Makes a source from a `Readable` of bytes. The source can be read only once. `evaluate` is called when the upload
 * starts to read.
 *
 * **Details**
 *
 * The stream is read only as fast as its bytes are sent. When the upload ends, fails or is interrupted, the stream is
 * destroyed. If `evaluate` throws, if bytes of the stream were already read, if the stream fails or closes early, or if
 * the stream emits anything but bytes (object mode, `setEncoding`), the error is `SourceFailed`.
 *
 * **Gotchas**
 *
 * If you can, create the stream inside the function `evaluate`. If a stream fails while nothing listens for its errors,
 * Node ends the process. The upload listens for errors only after it has started to read.
 *
 * @example
 * import { createReadStream } from "node:fs"
 * import { createGzip } from "node:zlib"
 *
 * NodeSource.fromReadable(() => createReadStream("video.mp4").pipe(createGzip()))
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
      Effect.map(Effect.try({ try: evaluate, catch: UploadSource.failedWith }), (readable) => {
        const problem = problemOf(readable)
        return problem === undefined
          ? // With `chunkSize: 1`, each pull calls `read` once. `read` may refill the buffer of the stream, so further
            // calls would collect several full buffers in memory.
            NodeStream.fromReadable({ evaluate: () => readable, onError: UploadSource.failedWith, chunkSize: 1 })
          : Stream.fail(new UploadSource.SourceFailed({ kind: "Unreadable", description: problem }))
      })
    ),
    options
  )
