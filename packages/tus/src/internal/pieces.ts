import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** The size of the first piece of every reader, in bytes. */
export const smallest = 64 * 1024
const largest = 1024 * 1024

/** However many readers there are, a piece is at least so large, in bytes. */
const least = 16 * 1024

/** Below this a piece was taken fast, so a larger one is worth its memory. Milliseconds. */
const fast = 100

/**
 * How much may be read ahead by all readers of files together. One MiB at a time reaches the speed of a raw socket
 * where 64 KiB do not, but a thousand uploads at once cannot have one each.
 */
class ReadBudget {
  #readers = 0
  readonly bytes: number
  constructor(bytes: number) {
    this.bytes = bytes
  }
  /** Counts a reader until its scope ends. */
  readonly join: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => {
      this.#readers++
    }),
    () =>
      Effect.sync(() => {
        this.#readers--
      })
  )
  /** The share of one reader, in bytes. */
  get share(): number {
    return Math.max(least, Math.min(largest, Math.floor(this.bytes / Math.max(1, this.#readers))))
  }
}

/** The budget of the process. */
const ReadBudgetRef = Context.Reference<ReadBudget>("@assembly-effect/tus/ReadBudget", {
  defaultValue: () => new ReadBudget(32 * 1024 * 1024)
})

/**
 * The next size of one piece: it starts small and doubles while pieces are taken fast, so that on a slow link a piece
 * passes well within the stall timeout, and it never exceeds the reader's share.
 */
const grow = (current: number, elapsed: number, share: number): number =>
  Math.min(share, elapsed < fast ? current * 2 : elapsed > fast * 10 ? Math.max(least, current / 2) : current)

/** The size that one source's last range came to, for its next: requests of a chunk each begin where the last ended. */
export interface Learned {
  size: number
}

/** The sizes of the pieces of one reader: `next` is asked before each piece, `done` told when all were taken. */
export interface Sizes {
  readonly next: () => number
  readonly done: () => void
}

/** The sizes for one range. A range that does not come to its end teaches to start small again. */
export const pieceSizes = (learned: Learned): Effect.Effect<Sizes, never, Scope.Scope> =>
  Effect.gen(function* () {
    const budget = yield* ReadBudgetRef
    const clock = yield* Clock.Clock
    yield* budget.join
    let size = Math.min(learned.size, budget.share)
    let last: number | undefined
    learned.size = smallest
    return {
      next: () => {
        const now = clock.currentTimeMillisUnsafe()
        if (last !== undefined) size = grow(size, now - last, budget.share)
        last = now
        return size
      },
      done: () => {
        learned.size = Math.max(smallest, size)
      }
    }
  })

/** See `UploadSource.ReusePieces`. */
export const ReusePieces = Context.Reference<boolean>("@assembly-effect/tus/ReusePieces", {
  defaultValue: () => false
})

/** Reads one piece of a file, or none at its end. */
export type ReadPiece = (
  file: FileSystem.File,
  size: number,
  position: bigint
) => Effect.Effect<Option.Option<Uint8Array>, PlatformError.PlatformError>

/**
 * How many pieces may be on their way before the memory of the oldest is read into again. Node's clients have three at
 * most: one in the socket, one before it, and the one that is being read.
 */
const onTheWay = 6

const readFresh: ReadPiece = (file, size, position) => file.readAlloc(size, { position })

const readAgain = (): ReadPiece => {
  const given: Array<ArrayBuffer> = []
  const memory = (size: number): ArrayBuffer => {
    const oldest = given.length < onTheWay ? undefined : given.shift()
    // The transfer empties the old piece: whoever still holds it finds no bytes there, never those of another piece.
    return oldest === undefined || oldest.byteLength < size ? new ArrayBuffer(size) : oldest.transfer()
  }
  return (file, size, position) =>
    Effect.suspend(() => {
      const buffer = memory(size)
      const piece = new Uint8Array(buffer, 0, size)
      return Effect.map(file.read(piece, { position }), (read) => {
        given.push(buffer)
        return read === 0 ? Option.none() : Option.some(piece.subarray(0, read))
      })
    })
}

/** How the pieces of one range are read. */
export const pieceReader: Effect.Effect<ReadPiece> = Effect.map(ReusePieces, (reuse) =>
  reuse ? readAgain() : readFresh
)

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

/** All parts as one. */
export const together = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let filled = 0
  for (const part of parts) {
    bytes.set(part, filled)
    filled += part.length
  }
  return bytes
}

/** The parts of memory as a stream of pieces of a sensible size: small ones are put together, large ones cut. */
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
