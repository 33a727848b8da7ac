import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as BlobWriter from "./blobWriter.ts"
import * as FileHasher from "./fileHasher.ts"
import * as StorageFailure from "../data/storageFailure.ts"

/** The size of a blob in bytes, and its digests. */
export type Digest = FileHasher.Digest

/** The checksum that a client sends. `algorithm` is a name for `createHash` of Node. */
export interface Checksum {
  readonly algorithm: string
  /** The checksum in hexadecimal digits. */
  readonly digest: string
}

/** The bytes do not match the checksum. */
export class Mismatch extends Data.TaggedError("Mismatch") {}

/** The options for appending bytes to a blob. If `isHashed` is true, the digest is computed while the bytes arrive. */
export interface Append {
  /** The maximum number of bytes to append; undefined for no limit. */
  readonly room: bigint | undefined
  readonly isHashed: boolean
}

/** A range of bytes: `length` bytes from the byte `offset`. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

/** The maximum number of bytes in one read. */
const readChunk = 1024 * 1024

/** The suffix of a temporary file: bytes whose checksum is not verified yet, or an incomplete concatenation. */
const unfinished = ".part"

const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Folder.make(folder, { mode: 0o700 })
  const fileOf = (id: string) => path.join(folder, id)
  const sizeOf = (id: string) =>
    fs.stat(fileOf(id)).pipe(
      Effect.map(({ size }) => ByteSize.toBigInt(size)),
      // A removed blob has the size 0.
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(0n)),
      Effect.mapError(StorageFailure.fromSystem(fileOf(id)))
    )
  const hasher = yield* FileHasher.make
  const contents = new Map<string, FileHasher.ContentHash>()
  const write = yield* BlobWriter.make
  const readFile = (file: string, range?: ByteRange) =>
    Stream.mapError(
      fs.stream(file, {
        chunkSize: readChunk,
        ...(range === undefined ? {} : { offset: range.offset, bytesToRead: range.length })
      }),
      StorageFailure.fromSystem(file)
    )
  /** The bytes of a blob, or of a range of a blob. */
  const read = (id: string, range?: ByteRange) => readFile(fileOf(id), range)
  const hash = (file: string, algorithm: string) =>
    Effect.map(hasher.digest(file, [algorithm]), ({ digests: [digest = ""] }) => digest)

  /** The observer that hashes a blob while the blob is written. */
  const observe = Effect.fnUntraced(function* (id: string) {
    const start = Number(yield* sizeOf(id))
    const content = contents.get(id) ?? hasher.content(fileOf(id))
    contents.set(id, content)
    return content.observe(start)
  })

  /**
   * Appends bytes as they arrive. When the effect ends, even by a failure or an interruption, the appended bytes
   * survive the end of the process. These bytes may not survive a power failure.
   */
  const append = Effect.fnUntraced(function* <E>(
    id: string,
    bytes: Stream.Stream<Uint8Array, E>,
    { isHashed, room }: Append
  ) {
    yield* write(fileOf(id), bytes, room, isHashed ? yield* observe(id) : BlobWriter.nobody)
  })

  return {
    create: (id: string) =>
      fs
        .open(fileOf(id), { flag: "ax", mode: 0o600 })
        .pipe(Effect.scoped, Effect.mapError(StorageFailure.fromSystem(fileOf(id))), Effect.asVoid),
    size: sizeOf,
    append,
    /** Appends bytes only if all bytes arrive and match the checksum. */
    appendVerified: <E>(
      id: string,
      bytes: Stream.Stream<Uint8Array, E>,
      options: Append,
      { algorithm, digest }: Checksum
    ) => {
      const unverified = `${fileOf(id)}${unfinished}`
      return write(unverified, bytes, options.room, BlobWriter.nobody).pipe(
        Effect.andThen(hash(unverified, algorithm)),
        Effect.flatMap((actual) => (actual === digest ? Effect.void : Effect.fail(new Mismatch()))),
        Effect.andThen(Effect.uninterruptible(append(id, readFile(unverified), { ...options, room: undefined }))),
        // If the file cannot be removed now, the next start of the emulator removes the file.
        Effect.ensuring(Effect.ignore(fs.remove(unverified, { force: true })))
      )
    },
    digest: Effect.fnUntraced(function* (id: string) {
      const content = contents.get(id) ?? hasher.content(fileOf(id))
      contents.delete(id)
      return yield* content.digest(Number(yield* sizeOf(id)))
    }),
    /** The hash of a blob in hexadecimal digits. `algorithm` is a name for `createHash` of Node. */
    hash: (id: string, algorithm: string) => hash(fileOf(id), algorithm),
    read,
    /** Concatenates blobs into a new blob. The new blob exists only when it is complete. */
    concatenate: (id: string, parts: ReadonlyArray<string>) => {
      const made = `${fileOf(id)}${unfinished}`
      return Effect.gen(function* () {
        const file = yield* fs.open(made, { flag: "w", mode: 0o600 })
        for (const part of parts) yield* Stream.runForEach(read(part), (chunk) => file.writeAll(chunk))
        yield* fs.rename(made, fileOf(id))
      }).pipe(
        Effect.scoped,
        Effect.catchTag("PlatformError", (error) => Effect.fail(StorageFailure.fromSystem(made)(error))),
        Effect.tapError(() => Effect.ignore(fs.remove(made, { force: true })))
      )
    },
    names: Effect.mapError(fs.readDirectory(folder), StorageFailure.fromSystem(folder)),
    remove: Effect.fnUntraced(function* (id: string) {
      contents.delete(id)
      yield* hasher.forget(fileOf(id))
      yield* Effect.mapError(fs.remove(fileOf(id), { force: true }), StorageFailure.fromSystem(fileOf(id)))
    })
  }
})

/**
 * Stores the bytes of uploads and assets. Each blob is an append-only file. The offset of an upload is the length of
 * its file, and is recorded nowhere else. Therefore the offset is correct even after a crash.
 */
export class FileStore extends Context.Service<FileStore>()("@assembly-effect/emulator/FileStore", { make }) {}

/** Stores blobs in a folder. A missing folder is created. */
export const layer = (folder: string) => Layer.effect(FileStore, make(folder))
