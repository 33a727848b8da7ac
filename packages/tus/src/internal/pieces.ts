import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Stream from "effect/Stream"
import { type Replayable, failedWith, type SourceFailed } from "./source.ts"

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

/** The error of a source that emits anything but arrays of bytes, whatever its type says. */
export const notBytes = () => new TypeError("a piece is not a Uint8Array, or its memory was transferred")

/** A stream whose pieces are `Uint8Array`s of this realm. Fails at a piece that is not an array of bytes. */
export const owned = <E, R, E2>(
  stream: Stream.Stream<Uint8Array, E, R>,
  onError: (error: TypeError) => E2
): Stream.Stream<Uint8Array, E | E2, R> =>
  Pieces.mapPieces(stream, (piece) => {
    const bytes = Bytes.own(piece)
    return bytes === undefined ? Effect.fail(onError(notBytes())) : Effect.succeed([bytes])
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

/** The first `count` bytes of a stream, or all its bytes if it has fewer. */
export const takeBytes = <E, R>(
  stream: Stream.Stream<Uint8Array, E, R>,
  count: bigint
): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    let left = Number(count)
    if (left === 0) return Stream.empty
    const taken = Pieces.mapPieces(stream, (piece) => {
      const part = piece.subarray(0, left)
      left -= part.length
      return Effect.succeed(part.length === 0 ? [] : [part])
    })
    return Stream.takeUntil(taken, () => left === 0)
  })

const digestPiece = 1024 * 1024

/** SHA-256 over the SHA-256 digests of blocks of 1 MiB, in hexadecimal digits. */
const digest = <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Effect.Effect<string, E, R> =>
  Effect.gen(function* () {
    const service = yield* Digest.Digest
    const block = new Uint8Array(digestPiece)
    const digests: Array<Uint8Array> = []
    let filled = 0
    const close = Effect.gen(function* () {
      digests.push(yield* service.digest(Digest.sha256, block.slice(0, filled)))
      filled = 0
    })
    yield* Stream.runForEach(stream, (piece) =>
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
    return Hex.encode(yield* service.digest(Digest.sha256, Bytes.join(digests)))
  }).pipe(Effect.provide(Digest.layerWebCrypto))

/** The identity of a source by its content. The whole source is read each time the effect runs. */
export const identityOf = (source: Replayable): Effect.Effect<string, SourceFailed> =>
  Effect.suspend(() => digest(owned(source.bytes(0n, source.size), failedWith))).pipe(
    Effect.map((text) => `sha256/1MiB ${text}`)
  )
