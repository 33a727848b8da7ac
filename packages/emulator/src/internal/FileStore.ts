import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import * as BlobWriter from "./BlobWriter.ts"

/** What was computed from stored bytes. `size` is bytes. */
export interface Digest {
  readonly size: number
  readonly md5hash: string
  readonly sha256: string
}

/** What a client computed from bytes that it sends, by an algorithm that Node knows. */
export interface Checksum {
  readonly algorithm: string
  readonly digest: Buffer
}

/** The bytes have another checksum. */
export class Mismatch extends Data.TaggedError("Mismatch") {}

/**
 * The bytes of uploads and assets, each blob a file that only grows. Its length is the one truth about how much is
 * stored: nothing else counts it, so nothing can disagree after a crash.
 */
export class FileStore extends Context.Service<
  FileStore,
  {
    /** `isHashed`: its digest is computed while its bytes come, so that it is there with the last one. */
    readonly create: (id: string, options: { readonly isHashed: boolean }) => Effect.Effect<void>
    readonly size: (id: string) => Effect.Effect<bigint>
    /**
     * Stores bytes as they come, at most `room` of them. However it ends – the stream fails, the fiber is interrupted –
     * what was stored has left this process when it has ended, so its death loses nothing. That of the machine may.
     */
    readonly append: <E>(
      id: string,
      bytes: Stream.Stream<Uint8Array, E>,
      room: bigint | undefined
    ) => Effect.Effect<void, E | BlobWriter.NoRoom>
    /** Stores bytes that have this checksum, and nothing of any others, nor of some that do not all arrive. */
    readonly appendVerified: <E>(
      id: string,
      bytes: Stream.Stream<Uint8Array, E>,
      room: bigint | undefined,
      checksum: Checksum
    ) => Effect.Effect<void, E | BlobWriter.NoRoom | Mismatch>
    readonly digest: (id: string) => Effect.Effect<Digest>
    /** The hash of a blob in hexadecimal digits, by an algorithm that Node knows. */
    readonly hash: (id: string, algorithm: string) => Effect.Effect<string>
    /** The bytes of a blob. */
    readonly read: (id: string) => Stream.Stream<Uint8Array>
    /** Makes a blob of others, one after the other. Whoever sees it sees all of it. */
    readonly concatenate: (id: string, parts: ReadonlyArray<string>) => Effect.Effect<void>
    /** The names of all files, of blobs that are not whole as well. */
    readonly names: Effect.Effect<ReadonlyArray<string>>
    readonly remove: (id: string) => Effect.Effect<void>
  }
>()("@assembly-effect/emulator/FileStore") {}

/** Bytes that are read at once. */
const readChunk = 1024 * 1024

const maxReaders = 2

/** At the end of the name of a file that is no blob yet. */
const unfinished = ".part"

/** A digest on its way. */
class Hashing {
  size = 0
  private readonly md5 = createHash("md5")
  private readonly sha256 = createHash("sha256")

  update(chunk: Uint8Array): void {
    this.md5.update(chunk)
    this.sha256.update(chunk)
    this.size += chunk.length
  }

  digest(): Digest {
    return { size: this.size, md5hash: this.md5.digest("hex"), sha256: this.sha256.digest("hex") }
  }
}

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
      Effect.orDie
    )
  const hashings = new Map<string, Hashing>()
  const write = yield* BlobWriter.make
  const readers = yield* Semaphore.make(maxReaders)
  /** Reads a blob to its end. Many at once would only hold memory: what reads them uses one core. */
  const readAll = (id: string, use: (chunk: Uint8Array) => Effect.Effect<void>) =>
    readers.withPermit(Stream.runForEach(read(id), use))
  const readFile = (file: string) => Stream.orDie(fs.stream(file, { chunkSize: readChunk }))
  const read = (id: string) => readFile(fileOf(id))
  const append = <E>(id: string, bytes: Stream.Stream<Uint8Array, E>, room: bigint | undefined) => {
    const hashing = hashings.get(id)
    return write(fileOf(id), bytes, { room, onChunk: (chunk) => hashing?.update(chunk) })
  }

  return FileStore.of({
    create: (id, { isHashed }) =>
      fs.open(fileOf(id), { flag: "ax", mode: 0o600 }).pipe(
        Effect.scoped,
        Effect.orDie,
        Effect.map(() => {
          if (isHashed) hashings.set(id, new Hashing())
        })
      ),
    size: sizeOf,
    append,
    appendVerified: (id, bytes, room, { algorithm, digest }) => {
      const unverified = `${fileOf(id)}${unfinished}`
      const hash = createHash(algorithm)
      return write(unverified, bytes, { room, onChunk: (chunk) => hash.update(chunk) }).pipe(
        Effect.flatMap(() => (digest.equals(hash.digest()) ? Effect.void : Effect.fail(new Mismatch()))),
        Effect.andThen(Effect.uninterruptible(append(id, readFile(unverified), undefined))),
        Effect.ensuring(Effect.orDie(fs.remove(unverified, { force: true })))
      )
    },
    digest: Effect.fnUntraced(function* (id) {
      const hashed = hashings.get(id)
      hashings.delete(id)
      // The length of the file is the truth: a former process may have written some of it.
      if (hashed !== undefined && BigInt(hashed.size) === (yield* sizeOf(id))) return hashed.digest()
      const hashing = new Hashing()
      yield* readAll(id, (chunk) => Effect.sync(() => hashing.update(chunk)))
      return hashing.digest()
    }),
    hash: (id, algorithm) =>
      Effect.suspend(() => {
        const hash = createHash(algorithm)
        return readAll(id, (chunk) => Effect.sync(() => void hash.update(chunk))).pipe(
          Effect.map(() => hash.digest("hex"))
        )
      }),
    read,
    concatenate: (id, parts) =>
      Effect.gen(function* () {
        const made = `${fileOf(id)}${unfinished}`
        const file = yield* fs.open(made, { flag: "w", mode: 0o600 })
        for (const part of parts) yield* Stream.runForEach(read(part), (chunk) => file.writeAll(chunk))
        yield* fs.rename(made, fileOf(id))
      }).pipe(Effect.scoped, Effect.orDie),
    names: Effect.orDie(fs.readDirectory(folder)),
    remove: (id) => {
      hashings.delete(id)
      return Effect.orDie(fs.remove(fileOf(id), { force: true }))
    }
  })
})

/** A store in a folder, which is made if it is not there. */
export const layer = (
  folder: string
): Layer.Layer<FileStore, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(FileStore, make(folder))
