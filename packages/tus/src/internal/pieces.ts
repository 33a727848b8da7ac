import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Stream from "effect/Stream"

/** Parts of memory up to this size in bytes are joined before they are sent. */
const smallest = 64 * 1024

/** The size of the pieces in which bytes in memory are sent. */
const memoryPiece = 256 * 1024

/** Emits bytes in memory piece by piece, so that the progress and a stall are visible. */
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

/** Joins all parts. */
export const together = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let filled = 0
  for (const part of parts) {
    bytes.set(part, filled)
    filled += part.length
  }
  return bytes
}

/** Emits the parts of memory as pieces of a suitable size: joins small ones and cuts large ones. */
export const inRegularPieces = (parts: ReadonlyArray<Uint8Array>): Stream.Stream<Uint8Array> =>
  Stream.flatMap(
    Stream.unfold(0, (at) =>
      Effect.sync(() => {
        if (at >= parts.length) return undefined
        let end = at
        let size = 0
        while (end < parts.length && (end === at || size < smallest)) size += parts[end++]?.length ?? 0
        const group = parts.slice(at, end)
        const [only] = group
        return [group.length === 1 && only !== undefined ? only : together(group), end] as const
      })
    ),
    inPieces
  )

/** The given number of bytes from the start of a stream. */
export const takeBytes = <E, R>(
  stream: Stream.Stream<Uint8Array, E, R>,
  count: bigint
): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    if (count === 0n) return Stream.empty
    // Two counters, because one step of a stream processes many pieces before the next step gets the first of them.
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

/** Copies the pieces of a stream into blocks of exactly the given size; the last block may be shorter. */
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
