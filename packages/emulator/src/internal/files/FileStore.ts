import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Stream from "effect/Stream"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as BlobWriter from "./BlobWriter.ts"
import * as ContentHash from "./ContentHash.ts"
import * as FileHasher from "./FileHasher.ts"
import * as StorageFailure from "../data/StorageFailure.ts"

/** What was computed from stored bytes. `size` is bytes. */
export type Digest = ContentHash.Digest

/** What a client computed from bytes that it sends, by an algorithm that Node knows. */
export interface Checksum {
  readonly algorithm: string
  /** In hexadecimal digits. */
  readonly digest: string
}

/** The bytes have another checksum. */
export class Mismatch extends Data.TaggedError("Mismatch") {}

/** How an append goes. `isHashed`: its digest is computed while its bytes come, so that it is there with the last one. */
export interface Append {
  /** The most bytes that it may bring. */
  readonly room: bigint | undefined
  readonly isHashed: boolean
}

/**
 * The bytes of uploads and assets, each blob a file that only grows. Its length is the one truth about how much is
 * stored: nothing else counts it, so nothing can disagree after a crash.
 */
export class FileStore extends Context.Service<
  FileStore,
  {
    readonly create: (id: string) => Effect.Effect<void, StorageFailed>
    readonly size: (id: string) => Effect.Effect<bigint, StorageFailed>
    /**
     * Stores bytes as they come. However it ends – the stream fails, the fiber is interrupted –
     * what was stored has left this process when it has ended, so its death loses nothing. That of the machine may.
     */
    readonly append: <E>(
      id: string,
      bytes: Stream.Stream<Uint8Array, E>,
      options: Append
    ) => Effect.Effect<void, E | BlobWriter.NoRoom | StorageFailed>
    /** Stores bytes that have this checksum, and nothing of any others, nor of some that do not all arrive. */
    readonly appendVerified: <E>(
      id: string,
      bytes: Stream.Stream<Uint8Array, E>,
      options: Append,
      checksum: Checksum
    ) => Effect.Effect<void, E | BlobWriter.NoRoom | Mismatch | StorageFailed>
    readonly digest: (id: string) => Effect.Effect<Digest, StorageFailed>
    /** The hash of a blob in hexadecimal digits, by an algorithm that Node knows. */
    readonly hash: (id: string, algorithm: string) => Effect.Effect<string, StorageFailed>
    /** The bytes of a blob. */
    readonly read: (id: string) => Stream.Stream<Uint8Array, StorageFailed>
    /** Makes a blob of others, one after the other. Whoever sees it sees all of it. */
    readonly concatenate: (id: string, parts: ReadonlyArray<string>) => Effect.Effect<void, StorageFailed>
    /** The names of all files, of blobs that are not whole as well. */
    readonly names: Effect.Effect<ReadonlyArray<string>, StorageFailed>
    readonly remove: (id: string) => Effect.Effect<void, StorageFailed>
  }
>()("@assembly-effect/emulator/FileStore") {}

/** Bytes that are read at once. */
const readChunk = 1024 * 1024

/** At the end of the name of a file that is no blob yet. */
const unfinished = ".part"

const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  const fileOf = (id: string) => path.join(folder, id)
  const sizeOf = (id: string) =>
    fs.stat(fileOf(id)).pipe(
      Effect.map(({ size }) => ByteSize.toBigInt(size)),
      // Its bytes were given up.
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(0n)),
      Effect.mapError(StorageFailure.fromSystem(fileOf(id)))
    )
  const hasher = yield* FileHasher.FileHasher
  const contents = new Map<string, ContentHash.ContentHash>()
  const write = yield* BlobWriter.make
  const readFile = (file: string) =>
    Stream.mapError(fs.stream(file, { chunkSize: readChunk }), StorageFailure.fromSystem(file))
  const read = (id: string) => readFile(fileOf(id))
  const hash = (file: string, algorithm: string) =>
    Effect.map(hasher.digest(file, [algorithm]), ({ digests: [digest = ""] }) => digest)

  /** Has a blob hashed while it is written, by this process from its first byte on. */
  const observe = Effect.fnUntraced(function* (id: string) {
    const start = Number(yield* sizeOf(id))
    const content = contents.get(id) ?? ContentHash.make(hasher, fileOf(id))
    contents.set(id, content)
    return content.observe(start)
  })

  const append = Effect.fnUntraced(function* <E>(
    id: string,
    bytes: Stream.Stream<Uint8Array, E>,
    { isHashed, room }: Append
  ) {
    yield* write(fileOf(id), bytes, room, isHashed ? yield* observe(id) : BlobWriter.nobody)
  })

  return FileStore.of({
    create: (id) =>
      fs
        .open(fileOf(id), { flag: "ax", mode: 0o600 })
        .pipe(Effect.scoped, Effect.mapError(StorageFailure.fromSystem(fileOf(id))), Effect.asVoid),
    size: sizeOf,
    append,
    appendVerified: (id, bytes, options, { algorithm, digest }) => {
      const unverified = `${fileOf(id)}${unfinished}`
      return write(unverified, bytes, options.room, BlobWriter.nobody).pipe(
        Effect.andThen(hash(unverified, algorithm)),
        Effect.flatMap((actual) => (actual === digest ? Effect.void : Effect.fail(new Mismatch()))),
        Effect.andThen(Effect.uninterruptible(append(id, readFile(unverified), { ...options, room: undefined }))),
        // What cannot be removed now goes with the next start.
        Effect.ensuring(Effect.ignore(fs.remove(unverified, { force: true })))
      )
    },
    digest: Effect.fnUntraced(function* (id) {
      const content = contents.get(id) ?? ContentHash.make(hasher, fileOf(id))
      contents.delete(id)
      return yield* content.digest(Number(yield* sizeOf(id)))
    }),
    hash: (id, algorithm) => hash(fileOf(id), algorithm),
    read,
    concatenate: (id, parts) => {
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
    remove: Effect.fnUntraced(function* (id) {
      contents.delete(id)
      yield* hasher.forget(fileOf(id))
      yield* Effect.mapError(fs.remove(fileOf(id), { force: true }), StorageFailure.fromSystem(fileOf(id)))
    })
  })
})

/** A store in a folder, which is made if it is not there. */
export const layer = (
  folder: string
): Layer.Layer<FileStore, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(FileStore, make(folder)).pipe(Layer.provide(FileHasher.layer))
