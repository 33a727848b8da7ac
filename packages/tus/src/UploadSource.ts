/**
 * Where the bytes of an upload come from.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/**
 * The source cannot be read, or holds another number of bytes than it announced. Not a fault of the network.
 */
export class SourceFailed extends Schema.TaggedError<SourceFailed>()("SourceFailed", {
  problem: Schema.String
}) {
  override get message() {
    return `the source of the upload: ${this.problem}`
  }
}

/**
 * Bytes of a known size, in bytes, that can be read again from any offset.
 */
export interface UploadSource {
  readonly size: bigint
  readonly bytes: (offset: bigint) => Stream.Stream<Uint8Array, SourceFailed>
}

/**
 * How much of a file is read at a time: 1 MiB reaches the speed of a raw socket, where 64 KiB do not.
 */
const pieceSize = 1024 * 1024

/**
 * Bytes in memory.
 */
export const fromBytes = (bytes: Uint8Array): UploadSource => ({
  size: BigInt(bytes.length),
  bytes: (offset) => Stream.succeed(bytes.subarray(Number(offset)))
})

const fail = (error: PlatformError.PlatformError) => new SourceFailed({ problem: error.message })

/** The pieces of a file from an offset to its end, wherever that is when it is reached. */
const filePieces = (fs: FileSystem.FileSystem, path: string, offset: bigint) =>
  Stream.unwrap(
    Effect.map(fs.open(path), (file) =>
      Stream.unfold(offset, (position) =>
        Effect.map(
          file.readAlloc(pieceSize, { position }),
          Option.match({
            onNone: () => undefined,
            onSome: (piece) => [piece, position + BigInt(piece.length)] as const
          })
        )
      )
    )
  )

/**
 * A file, read as it is sent.
 */
export const fromPath = (path: string): Effect.Effect<UploadSource, SourceFailed, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const info = yield* Effect.mapError(fs.stat(path), fail)
    if (info.type !== "File") return yield* new SourceFailed({ problem: `${path} is not a file` })
    return {
      size: BigInt(info.size),
      bytes: (offset) => Stream.mapError(filePieces(fs, path, offset), fail)
    }
  })
