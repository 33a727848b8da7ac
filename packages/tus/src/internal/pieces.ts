/** Bytes as streams of pieces, and the digests of bytes. */
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Digest from "effect/crypto/Digest"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Stream from "effect/Stream"
import { failedWith, type Replayable, type SourceFailed, sourceFailed } from "./source.ts"

/** Before small byte arrays are sent, they are joined until a piece has this size in bytes, or no array is left. */
const smallest = 64 * 1024

/** The maximum size of a piece in bytes. A larger byte array is cut. */
const memoryPiece = 256 * 1024

const cut = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  if (bytes.length <= memoryPiece) return bytes.length === 0 ? [] : [bytes]
  const count = Math.ceil(bytes.length / memoryPiece)
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * memoryPiece, (index + 1) * memoryPiece))
}

/** Cuts large pieces of a stream into smaller pieces, so that progress or a stall becomes visible sooner. */
export const cutLarge = <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Pieces.mapPieces(stream, (piece) => Effect.succeed(cut(piece)))

/** A piece as a `Uint8Array` of this realm. Fails for anything but an array of bytes, whatever its type says. */
export const own = (piece: Uint8Array): Effect.Effect<Uint8Array, SourceFailed> => {
  const bytes = Bytes.own(piece)
  return bytes === undefined
    ? Effect.fail(failedWith(new TypeError("a piece is not a Uint8Array, or its memory was transferred")))
    : Effect.succeed(bytes)
}

export const tooShort = (got: bigint, expected: bigint): SourceFailed =>
  sourceFailed("TooShort", `the source ended after ${got} of ${expected} bytes`)

export const tooLong = (expected: bigint): SourceFailed =>
  sourceFailed("TooLong", `the source has more than the announced ${expected} bytes`)

type Source = Stream.Stream<Uint8Array, SourceFailed>

/** The pieces of a source as {@link own} arrays. Fails unless they have exactly `length` bytes. */
export const exactly = (source: Source, length: bigint): Source =>
  Stream.suspend(() => {
    let count = 0n
    return Pieces.mapPieces(
      source,
      (piece) =>
        Effect.flatMap(own(piece), (bytes) => {
          count += BigInt(bytes.length)
          return count > length ? Effect.fail(tooLong(length)) : Effect.succeed([bytes])
        }),
      Effect.suspend(() => (count < length ? Effect.fail(tooShort(count, length)) : Effect.void))
    )
  })

/** All bytes of a source with a known size, in memory. */
export const collect = (source: Source, length: bigint): Effect.Effect<Uint8Array, SourceFailed> =>
  Effect.suspend(() => {
    const bytes = new Uint8Array(Number(length))
    let filled = 0
    const fill = Stream.runForEach(exactly(source, length), (piece) =>
      Effect.sync(() => {
        bytes.set(piece, filled)
        filled += piece.length
      })
    )
    return Effect.as(fill, bytes)
  })

/** Bytes in memory as a stream of pieces. */
export const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> => cutLarge(Stream.succeed(bytes))

/**
 * Emits byte arrays as pieces of a suitable size: joins small arrays and cuts large arrays. Each array is dropped when
 * it is emitted, so that an HTTP client that keeps a request after its response does not keep the arrays. Therefore the
 * stream can be read only once.
 */
export const inRegularPieces = (parts: Array<Uint8Array>): Stream.Stream<Uint8Array> =>
  cutLarge(
    Stream.unfold(parts, () =>
      Effect.sync(() => {
        let count = 0
        let size = 0
        while (count < parts.length && size < smallest) size += parts[count++]?.length ?? 0
        return count === 0 ? undefined : ([Bytes.join(parts.splice(0, count)), parts] as const)
      })
    )
  )

/** The first `count` bytes of a source, or all its bytes if it has fewer. */
export const takeBytes = (source: Source, count: bigint): Source =>
  Stream.suspend(() => {
    let left = Number(count)
    if (left === 0) return Stream.empty
    const taken = Pieces.mapPieces(source, (piece) =>
      Effect.map(own(piece), (bytes) => {
        const part = bytes.subarray(0, left)
        left -= part.length
        return part.length === 0 ? [] : [part]
      })
    )
    return Stream.takeUntil(taken, () => left === 0)
  })

/** The bytes of the pieces from `start` to `end`. No byte is copied. */
export const range = (pieces: ReadonlyArray<Uint8Array>, start: number, end: number): Array<Uint8Array> => {
  let at = 0
  return pieces.flatMap((piece) => {
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += piece.length
    return part.length === 0 ? [] : [part]
  })
}

/**
 * Whether this runtime can compute a digest: a page has `crypto.subtle` only on https, on `localhost` and on the
 * addresses of loopback.
 */
export const canDigest: Effect.Effect<boolean> = WebCrypto.useSync(
  (crypto: Crypto | undefined) => crypto?.subtle !== undefined
)

/** The text of an error when this runtime cannot compute a digest. */
export const noDigest = "crypto.subtle is unavailable; serve the page over https or from localhost"

/** The digest of bytes. */
export const digest = (algorithm: Digest.Algorithm, bytes: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.provide(
    Digest.Digest.use((service) => service.digest(algorithm, bytes)),
    Digest.layerWebCrypto
  )

/** The SHA-256 of bytes, in hexadecimal digits. */
export const sha256 = (bytes: Uint8Array): Effect.Effect<string> => Effect.map(digest(Digest.sha256, bytes), Hex.encode)

const digestPiece = 1024 * 1024

/**
 * The identity of a source by its content: the SHA-256 of the SHA-256 digests of blocks of 1 MiB. The whole source is
 * read each time the effect runs.
 */
export const identityOf = (source: Replayable): Effect.Effect<string, SourceFailed> =>
  Effect.gen(function* () {
    const block = new Uint8Array(digestPiece)
    const digests: Array<Uint8Array> = []
    let filled = 0
    const close = Effect.gen(function* () {
      digests.push(yield* digest(Digest.sha256, block.slice(0, filled)))
      filled = 0
    })
    yield* Stream.runForEach(exactly(source.bytes(0n, source.size), source.size), (piece) =>
      Effect.gen(function* () {
        for (let at = 0; at < piece.length;) {
          const part = piece.subarray(at, at + digestPiece - filled)
          block.set(part, filled)
          filled += part.length
          at += part.length
          if (filled === digestPiece) yield* close
        }
      })
    )
    if (filled > 0) yield* close
    return `sha256/1MiB ${yield* sha256(Bytes.join(digests))}`
  })
