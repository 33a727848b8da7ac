import * as Effect from "effect/Effect"
import { createHash, type Hash } from "node:crypto"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as BlobWriter from "./BlobWriter.ts"
import * as FileHasher from "./FileHasher.ts"
import * as HashProtocol from "./HashProtocol.ts"

/** What a Status and an asset say of bytes. `size` is bytes. */
export interface Digest {
  readonly size: number
  readonly md5hash: string
  readonly sha256: string
}

/** The digest of a file on its way. */
export interface ContentHash {
  /** Watches what is appended to so many bytes. */
  readonly observe: (start: number) => BlobWriter.Observer
  /** Of the whole file, which has so many bytes. */
  readonly digest: (size: number) => Effect.Effect<Digest, StorageFailed>
}

/** A large file is read ahead whenever so many more of its bytes stand. */
const followEvery = 4 * 1024 * 1024

const toDigest = (size: number, [md5hash = "", sha256 = ""]: ReadonlyArray<string>): Digest => ({
  size,
  md5hash,
  sha256
})

/**
 * Hashes the bytes of a small file as they come, so that nobody has to read them again. One that grows large is left to
 * the thread that reads files.
 */
export const make = (hasher: FileHasher.FileHasher["Service"], file: string): ContentHash => {
  let hashes: ReadonlyArray<Hash> = HashProtocol.contentAlgorithms.map((algorithm) => createHash(algorithm))
  let hashed = 0
  let followed = FileHasher.large

  return {
    observe: (start) => {
      // A former process has written some of it.
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
