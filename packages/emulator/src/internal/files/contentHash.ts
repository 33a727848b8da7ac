import * as Effect from "effect/Effect"
import { createHash, type Hash } from "node:crypto"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as BlobWriter from "./blobWriter.ts"
import * as FileHasher from "./fileHasher.ts"
import * as HashProtocol from "./hashProtocol.ts"

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

/** The worker thread hashes the new bytes of a large file each time the file has grown by at least this many bytes. */
const followEvery = 4 * 1024 * 1024

const toDigest = (size: number, [md5hash = "", sha256 = ""]: ReadonlyArray<string>): Digest => ({
  size,
  md5hash,
  sha256
})

/**
 * Hashes a small file while its bytes arrive, so that the file is not read again. The worker thread hashes large files.
 */
export const make = (hasher: FileHasher.FileHasher["Service"], file: string): ContentHash => {
  let hashes: ReadonlyArray<Hash> = HashProtocol.contentAlgorithms.map((algorithm) => createHash(algorithm))
  let hashed = 0
  let followed = FileHasher.large

  return {
    observe: (start) => {
      // The hashes cannot be used if they do not cover exactly the bytes before `start`, for example because an earlier
      // process wrote these bytes.
      if (start !== hashed) hashes = []
      return {
        onChunk: (chunk) => {
          for (const hash of hashes) hash.update(chunk)
          hashed += chunk.length
        },
        onWritten: (written) => {
          const size = start + written
          if (size < followed + followEvery) return Effect.void
          followed = size
          hashes = []
          return hasher.follow(file, size)
        }
      }
    },
    digest: (size) =>
      hashes.length > 0 && hashed === size
        ? Effect.sync(() =>
            toDigest(
              size,
              hashes.map((hash) => hash.digest("hex"))
            )
          )
        : Effect.map(hasher.digest(file, HashProtocol.contentAlgorithms), (read) => toDigest(read.size, read.digests))
  }
}
