/**
 * The sources of uploads: bytes that can be read again, and one-shot streams.
 */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as FilePieces from "./internal/filePieces.ts"
import * as Outgoing from "./internal/outgoing.ts"
import * as SmallFile from "./unstable/SmallFile.ts"
import * as Source from "./internal/source.ts"

export type { OneShot, Replayable, UploadSource } from "./internal/source.ts"
export { failedWith, SourceFailed } from "./internal/source.ts"

/**
 * Makes a source that can be read again. `bytes(offset)` streams all bytes from `offset` to the end, and may be called
 * any number of times. `identity` should change whenever the content changes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly size: bigint
  readonly bytes: (offset: bigint) => Stream.Stream<Uint8Array, Source.SourceFailed>
  readonly identity?: string | undefined
}): Source.Replayable => ({
  _tag: "Replayable",
  size: options.size,
  bytes: (start, end) =>
    // The last range is streamed to the end of the source, so that a source with more bytes than announced is detected.
    end === options.size ? options.bytes(start) : Outgoing.takeBytes(options.bytes(start), end - start),
  identity: Effect.succeed(options.identity)
})

/** The source of a value that is no source. An upload refuses the source before it creates anything. */
const invalid = (description: string): Source.Replayable & { readonly description: string } => {
  const failure = Source.sourceFailed("Unreadable", description)
  return {
    _tag: "Replayable",
    description,
    size: -1n,
    bytes: () => Stream.fail(failure),
    identity: Effect.fail(failure)
  }
}

/**
 * Makes a source from bytes in memory. An upload of a value that is not an array of bytes, or of an array whose memory
 * was transferred (`postMessage`, `structuredClone`), fails with `InvalidRequest` (`source`). If the memory is
 * transferred later, the upload fails with `SourceFailed` (`Changed`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromBytes = (bytes: Uint8Array): Source.Replayable => {
  const own = Bytes.own(bytes)
  if (own === undefined) return invalid("Expected a Uint8Array whose memory was not transferred")
  const size = own.length
  const read = (start: bigint, end: bigint) =>
    Effect.suspend(() =>
      own.length < size
        ? Effect.fail(Source.sourceFailed("Changed", "the memory of the bytes was taken away"))
        : Effect.succeed(own.subarray(Number(start), Number(end)))
    )
  const whole = read(0n, BigInt(size))
  return Source.withWhole(
    {
      _tag: "Replayable",
      size: BigInt(size),
      bytes: (start, end) => Outgoing.cutLarge(Stream.fromEffect(read(start, end))),
      identity: Effect.map(Effect.flatMap(whole, Digests.sha256), (digest) => `sha256 ${digest}`)
    },
    whole
  )
}

const blobPart = 1024 * 1024

/**
 * A range of a Blob, read part by part on demand. `Blob.stream` is not used, because one runtime emits pieces of 4 KiB,
 * and another runtime emits the whole Blob as one piece.
 */
const blobParts = (blob: Blob, start: number, end: number): Stream.Stream<Uint8Array, Source.SourceFailed> =>
  Stream.unfold(
    start,
    Effect.fnUntraced(function* (at: number) {
      if (at >= end) return undefined
      const next = Math.min(end, at + blobPart)
      const bytes = yield* Effect.tryPromise({
        try: async () => {
          const memory = await blob.slice(at, next).arrayBuffer()
          // `DataView` throws for every value that is no memory. `Uint8Array` would make zeros of a number.
          return Bytes.own(memory) ?? new Uint8Array(new DataView(memory).buffer)
        },
        catch: () => Source.sourceFailed("Changed", "the Blob can no longer be read")
      })
      if (bytes.length === next - at) return [bytes, next] as const
      const description = `a slice of the Blob has ${bytes.length} bytes instead of ${next - at}`
      return yield* Source.sourceFailed("Changed", description)
    })
  )

/** Whether a value can be read as a Blob. A Blob of another realm or of a class of its own can be read too. */
const isBlob = (value: unknown): value is Blob =>
  Predicate.isObject(value) &&
  Number.isSafeInteger(value["size"]) &&
  typeof value["slice"] === "function" &&
  typeof value["arrayBuffer"] === "function"

/**
 * Makes a source from a Blob, or from a File of a browser. The identity of a File is its name, size and modification
 * time. A Blob that is not a File has no identity.
 *
 * **Details**
 *
 * The bytes are read with `slice` and `arrayBuffer`, so the HTTP client need not know the class of the Blob. An upload
 * of a value without these functions fails with `InvalidRequest` (`source`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromBlob = (blob: Blob): Source.Replayable =>
  isBlob(blob)
    ? {
        _tag: "Replayable",
        size: BigInt(blob.size),
        bytes: (start, end) => Outgoing.cutLarge(blobParts(blob, Number(start), Number(end))),
        identity: Effect.succeed(
          "name" in blob && typeof blob.name === "string" && "lastModified" in blob
            ? `file ${blob.name} ${blob.size} ${blob.lastModified}`
            : undefined
        )
      }
    : invalid("Expected a Blob with the functions slice and arrayBuffer")

const problems: Partial<Record<string, string>> = { NotFound: "no such file", PermissionDenied: "permission denied" }

const unreadableAt = (path: string) => (error: PlatformError.PlatformError) => {
  const problem = problems[error.reason._tag]
  return Source.sourceFailed("Unreadable", problem === undefined ? error.message : `${path}: ${problem}`)
}

type FileState = Pick<FileSystem.File.Info, "dev" | "ino" | "mtime" | "size">

/** The size and the modification time of a file, as text. */
const shownState = ({ mtime, size }: FileState): string =>
  `${size} bytes, modified ${Option.getOrUndefined(mtime)?.toISOString() ?? "at an unknown time"}`

/** Whether a path still leads to the same file, and not to a replacement. */
const isSameFile = (now: FileState, before: FileState): boolean =>
  now.dev === before.dev && Option.getOrUndefined(now.ino) === Option.getOrUndefined(before.ino)

/**
 * Makes a source from a file. The file is opened when the upload needs its bytes. A file of at most 256 KiB is read
 * whole, any other only as fast as its bytes are sent. The identity of the file is its path, size and modification time. If the file changes before its last bytes
 * are read, the upload fails with `SourceFailed` (`Changed`). If another file replaces the file, the bytes of this
 * other file are never sent. A file with content whose size is 0, such as a file in `/proc`, fails with `SourceFailed`.
 *
 * **Gotchas**
 *
 * If a file is overwritten in place with the same number of bytes and its modification time is set back, the change is
 * not detected.
 *
 * The identity contains `path` as the caller passes it. With a journal, pass an absolute path: a relative path leads to
 * another file in another working folder, and `a.bin` and `./a.bin` have different identities.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromPath = (path: string): Effect.Effect<Source.Replayable, Source.SourceFailed, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const unreadable = unreadableAt(path)
    const info = yield* Effect.mapError(fs.stat(path), unreadable)
    const { size } = info
    if (info.type !== "File") return yield* Source.sourceFailed("Unreadable", `${path} is not a file`)
    const before = shownState(info)
    const unchanged = (state: FileState) => {
      const now = shownState(state)
      if (now !== before) return Effect.fail(Source.sourceFailed("Changed", `${path}: was ${before}, is ${now}`))
      return isSameFile(state, info)
        ? Effect.void
        : Effect.fail(Source.sourceFailed("Changed", `${path} was replaced by another file`))
    }

    const pieceSize = { size: FilePieces.smallest }
    const open = Effect.mapError(fs.open(path), unreadable)
    if (size === 0n) {
      // The size of a file in /proc is always 0.
      const first = yield* Effect.scoped(Effect.flatMap(open, (file) => Effect.mapError(file.readAlloc(1), unreadable)))
      if (Option.isSome(first)) {
        const description = `${path} has content, but its size is 0, as in /proc; upload a copy of it, or a stream`
        return yield* Source.sourceFailed("Unreadable", description)
      }
    }
    const check = (state: Effect.Effect<FileState, PlatformError.PlatformError>) =>
      Effect.flatMap(Effect.mapError(state, unreadable), unchanged)
    const range = (start: bigint, end: bigint) =>
      Stream.unwrap(
        Effect.gen(function* () {
          // Opening a named pipe would wait for its other end.
          yield* check(fs.stat(path))
          const file = yield* open
          const pieces = yield* FilePieces.reader(file, pieceSize)
          // The open file is checked before its first piece is read, so that no byte of another file is sent, and before
          // the last piece is sent, so that a complete upload contains the unchanged file.
          yield* check(file.stat)
          return Stream.unfold(start, (position) =>
            Effect.gen(function* () {
              if (position >= end) {
                pieces.done()
                return undefined
              }
              const read = yield* Effect.mapError(pieces.next(position, end - position), unreadable)
              const piece = Option.getOrUndefined(read)
              const next = position + BigInt(piece?.length ?? 0)
              if (piece === undefined || next >= end) yield* check(file.stat)
              return piece && ([piece, next] as const)
            })
          )
        })
      )

    // One byte more than the file had shows whether the file has grown.
    const read = SmallFile.readerOf(fs)?.(path, Number(size) + 1)
    const whole =
      read &&
      Effect.flatMap(read, (found) =>
        found === undefined
          ? Outgoing.collect(range(0n, size), size)
          : Effect.as(unchanged(found.info), found.bytes.subarray(0, Number(size)))
      )
    const identity = Effect.succeed(`path ${path} ${before}`)
    return Source.withWhole({ _tag: "Replayable", size, bytes: range, identity }, whole)
  })

/**
 * Makes a source from a stream. The source can be read only once. The upload keeps unacknowledged bytes in memory, at
 * most `chunkSize` bytes (8 MiB by default) and one chunk of the stream.
 *
 * **Gotchas**
 *
 * A piece must not change after the stream has emitted it, because it may be sent later, or again.
 *
 * @example UploadSource.fromStream(request.stream, { size: 1024n })
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromStream = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  options?: { readonly size?: bigint | undefined }
): Source.OneShot => ({ _tag: "OneShot", size: options?.size, stream: Stream.mapError(stream, Source.failedWith) })

/**
 * Returns the same source, but with a digest of the content as the `identity`. The whole source is read each time
 * `identity` runs. The digest is the SHA-256 of the SHA-256 digests of 1 MiB blocks, because WebCrypto needs the whole
 * input of a digest in memory.
 *
 * @since 0.1.0
 * @category combinators
 */
export const identifiedByContent = (source: Source.Replayable): Source.Replayable => ({
  ...source,
  identity: Outgoing.identityOf(source)
})
