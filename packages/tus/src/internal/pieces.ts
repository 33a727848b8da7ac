import * as Bytes from "@assembly-effect/api/unstable/Bytes"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Stream from "effect/Stream"

/** Up to here parts of memory are put together before they are sent, in bytes. */
const smallest = 64 * 1024

/** How large the pieces are in which bytes in memory are sent. */
const memoryPiece = 256 * 1024

/** Bytes in memory as a stream that is taken piece by piece: so their progress shows, and a stall. */
export const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  bytes.length <= memoryPiece
    ? bytes.length === 0
      ? Stream.empty
      : Stream.succeed(bytes)
    : Stream.unfold(0, (at) =>
        Effect.sync(() =>
          at >= bytes.length ? undefined : ([bytes.subarray(at, at + memoryPiece), at + memoryPiece] as const)
        )
      )

/** The parts of memory as a stream of pieces of a sensible size: small ones are put together, large ones cut. */
export const inRegularPieces = (parts: ReadonlyArray<Uint8Array>): Stream.Stream<Uint8Array> =>
  Stream.flatMap(
    Stream.unfold(0, (at) =>
      Effect.sync(() => {
        if (at >= parts.length) return undefined
        let end = at
        let size = 0
        while (end < parts.length && (end === at || size < smallest)) size += parts[end++]?.length ?? 0
        return [Bytes.join(parts.slice(at, end)), end] as const
      })
    ),
    inPieces
  )

/** The first so many bytes of a stream. */
export const takeBytes = <E, R>(
  stream: Stream.Stream<Uint8Array, E, R>,
  count: bigint
): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    if (count === 0n) return Stream.empty
    // Two counts, since a step of a stream goes over many pieces before the next step sees the first of them.
    let taken = 0n
    let left = Number(count)
    return stream.pipe(
      Stream.takeUntil((piece) => (taken += BigInt(piece.length)) >= count),
      Stream.map((piece) => {
        const part = piece.subarray(0, left)
        left -= part.length
        return part
      })
    )
  })

const digestPiece = 1024 * 1024

/** Copies the pieces of a stream into blocks of exactly so many bytes; the last may be shorter. */
const blocks = <E, R>(stream: Stream.Stream<Uint8Array, E, R>, size: number) =>
  Stream.suspend(() => {
    let block = new Uint8Array(size)
    let filled = 0
    const whole = Stream.flatMap(stream, (piece) => {
      const full: Array<Uint8Array> = []
      for (let at = 0; at < piece.length;) {
        const part = piece.subarray(at, at + size - filled)
        block.set(part, filled)
        filled += part.length
        at += part.length
        if (filled === size) {
          full.push(block)
          block = new Uint8Array(size)
          filled = 0
        }
      }
      return Stream.fromIterable(full)
    })
    return Stream.concat(
      whole,
      Stream.suspend(() => (filled === 0 ? Stream.empty : Stream.succeed(block.subarray(0, filled))))
    )
  })

/** SHA-256 over the SHA-256 digests of blocks of 1 MiB, in hexadecimal digits. */
export const digest = <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Effect.Effect<string, E, R> =>
  Effect.gen(function* () {
    const service = yield* Digest.Digest
    const digests = yield* blocks(stream, digestPiece).pipe(
      Stream.mapEffect((block) => service.digest(Digest.sha256, block)),
      Stream.mkUint8Array
    )
    return Hex.encode(yield* service.digest(Digest.sha256, digests))
  }).pipe(Effect.provide(Digest.layerWebCrypto))
