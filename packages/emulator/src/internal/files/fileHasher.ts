import * as ByteSize from "effect/ByteSize"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { createHash, type Hash } from "node:crypto"
import { Worker } from "node:worker_threads"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as StorageFailure from "../data/storageFailure.ts"
import type * as BlobWriter from "./blobWriter.ts"
import type { Answer, Digests, Question } from "./hashWorker.ts"

/** The size of a file in bytes, and its digests, as in an Assembly Status and in an asset. */
export interface Digest {
  readonly size: number
  readonly md5hash: string
  readonly sha256: string
}

/** Computes the digest of a file while the file is written. */
export interface ContentHash {
  /** Returns the observer for bytes that are appended at the offset `start`. */
  readonly observe: (start: number) => BlobWriter.Observer
  /** Returns the digest of the whole file, which has `size` bytes. */
  readonly digest: (size: number) => Effect.Effect<Digest, StorageFailed>
}

const contentAlgorithms = ["md5", "sha256"]

/**
 * The maximum size in bytes of a file that is hashed without the worker thread. The thread needs 25 MiB of memory,
 * which is too much for small files.
 */
const large = 16 * 1024 * 1024

/** The worker thread hashes the new bytes of a large file each time the file has grown by at least this many bytes. */
const followEvery = 4 * 1024 * 1024

/** The size of the buffer for reading a file, in bytes. */
const piece = 256 * 1024

/**
 * The maximum number of small files that are hashed at the same time. A higher number would need more memory without
 * being faster, because hashing uses one core.
 */
const maxReaders = 2

/**
 * The URL of the worker module, which is next to this module. The extension is `.ts` in the sources and `.js` in the
 * build.
 */
const workerUrl = new URL(import.meta.url.replace(/fileHasher(\.\w+)$/, "hashWorker$1"))

/** A caller that waits for digests. */
interface Waiting {
  readonly file: string
  readonly digests: Deferred.Deferred<Digests, StorageFailed>
}

/** Starts the worker thread, which ends with the scope. */
const startThread = Effect.gen(function* () {
  const waiting = new Map<number, Waiting>()
  let asked = 0
  const worker = yield* Effect.acquireRelease(
    // The thread does not inherit the flags of this process, such as the flags of a profiler.
    Effect.sync(() => new Worker(workerUrl, { execArgv: [] })),
    (thread) => Effect.promise(() => thread.terminate())
  )
  worker.on("message", ({ found, id }: Answer) => {
    const asker = waiting.get(id)
    waiting.delete(id)
    if (asker === undefined) return
    const { digests, file } = asker
    const answer = typeof found === "string" ? StorageFailure.fromSystem(file)({ code: found }) : Effect.succeed(found)
    Deferred.doneUnsafe(digests, answer)
  })
  worker.once("error", (problem) => {
    for (const { digests } of waiting.values()) Deferred.doneUnsafe(digests, Effect.die(problem))
  })

  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
  const tell = (question: Question) => Effect.sync(() => worker.postMessage(question))
  return {
    tell,
    digest: Effect.fnUntraced(function* (file: string, algorithms: ReadonlyArray<string>) {
      const id = asked++
      const digests = yield* Deferred.make<Digests, StorageFailed>()
      waiting.set(id, { file, digests })
      yield* tell({ _tag: "Digest", id, file, algorithms })
      return yield* Deferred.await(digests)
    })
  }
})

/** Computes digests of files. A worker thread hashes large files. The thread starts with the first large file. */
export const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const context = yield* Effect.context<Scope.Scope>()
  const readers = yield* Semaphore.make(maxReaders)
  const thread = yield* Effect.cached(Effect.provideContext(startThread, context))
  const followed = new Set<string>()

  /** Hashes a file in this thread. All reads of the file use one buffer, to save garbage collection. */
  const digestHere = Effect.fnUntraced(
    function* (path: string, algorithms: ReadonlyArray<string>) {
      const file = yield* Effect.mapError(fs.open(path, { flag: "r" }), StorageFailure.fromSystem(path))
      const hashes = algorithms.map((algorithm) => createHash(algorithm))
      const buffer = new Uint8Array(piece)
      let size = 0
      while (true) {
        const read = Number(yield* Effect.mapError(file.read(buffer), StorageFailure.fromSystem(path)))
        if (read === 0) return { size, digests: hashes.map((hash) => hash.digest("hex")) }
        for (const hash of hashes) hash.update(buffer.subarray(0, read))
        size += read
      }
    },
    Effect.scoped,
    readers.withPermit
  )

  /** Computes the digests of a whole file. `algorithms` are names for `createHash` of Node. */
  const digest = Effect.fnUntraced(function* (file: string, algorithms: ReadonlyArray<string>) {
    const { size } = yield* Effect.mapError(fs.stat(file), StorageFailure.fromSystem(file))
    if (ByteSize.toBigInt(size) <= large) return yield* digestHere(file, algorithms)
    return yield* (yield* thread).digest(file, algorithms)
  })

  return {
    digest,
    /** Drops the hashes of a file that was written only in part. */
    forget: Effect.fnUntraced(function* (file: string) {
      if (followed.delete(file)) yield* (yield* thread).tell({ _tag: "Forget", file })
    }),
    /** Hashes a small file while its bytes arrive, so that the file is not read again. The thread hashes large files. */
    content: (file: string): ContentHash => {
      let hashes: ReadonlyArray<Hash> = contentAlgorithms.map((algorithm) => createHash(algorithm))
      let hashed = 0
      let known = large
      return {
        observe: (start) => {
          // The hashes cannot be used if they do not cover exactly the bytes before `start`, for example because an
          // earlier process wrote these bytes.
          if (start !== hashed) hashes = []
          return {
            onChunk: (chunk) => {
              for (const hash of hashes) hash.update(chunk)
              hashed += chunk.length
            },
            onWritten: Effect.fnUntraced(function* (written) {
              const size = start + written
              if (size < known + followEvery) return
              known = size
              hashes = []
              followed.add(file)
              yield* (yield* thread).tell({ _tag: "Follow", file, size, algorithms: contentAlgorithms })
            })
          }
        },
        digest: Effect.fnUntraced(function* (size) {
          const read =
            hashes.length > 0 && hashed === size
              ? { size, digests: hashes.map((hash) => hash.digest("hex")) }
              : yield* digest(file, contentAlgorithms)
          const [md5hash = "", sha256 = ""] = read.digests
          return { size: read.size, md5hash, sha256 }
        })
      }
    }
  }
})
