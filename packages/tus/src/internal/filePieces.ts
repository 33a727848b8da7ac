/**
 * How a file is read piece by piece: how large the pieces are, and whose memory they are read into.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"

const kibi = 1024

/** The size of the first piece of every reader, in bytes. */
export const smallest = 64 * kibi
const largest = 1024 * kibi

/** However many readers there are, a piece is at least so large, in bytes. */
const least = 16 * kibi

/** Below this a piece was taken fast, so a larger one is worth its memory. Milliseconds. */
const fast = 100

/**
 * How many bytes all readers of files may hold together. Pieces of one MiB reach the speed of a raw socket where those
 * of 64 KiB do not, but a thousand uploads at once cannot have one each.
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
    return Math.floor(this.bytes / Math.max(1, this.#readers))
  }
}

/** The budget of the process. */
const ReadBudgetRef = Context.Reference<ReadBudget>("@assembly-effect/tus/ReadBudget", {
  defaultValue: () => new ReadBudget(64 * kibi * kibi)
})

/** The largest piece for a share: one is on its way while the next is read. */
const most = (share: number): number => Math.max(least, Math.min(largest, Math.floor(share / 2)))

/**
 * The next size of one piece: it starts small and doubles while pieces are taken fast, so that on a slow link a piece
 * passes well within the stall timeout.
 */
const grow = (current: number, elapsed: number): number =>
  elapsed < fast ? current * 2 : elapsed > fast * 10 ? Math.max(least, current / 2) : current

/**
 * How many pieces are handed out before the memory of the oldest is read into again. A client that
 * `PieceMemory.register` knows holds three at most: one in the socket, one before it, and the one it has asked for.
 */
const onTheWay = 8

/** Smaller pieces come from memory that the process keeps anyway, and HTTP clients may hold many of them. */
const worthReusing = 256 * kibi

/**
 * The memory of the pieces of one request. To take memory and to leave it again is most of what it costs to send a
 * file.
 */
export class Memory {
  readonly #given: Array<ArrayBuffer>
  constructor(given: ReadonlyArray<ArrayBuffer>) {
    this.#given = [...given]
  }

  /** So many bytes, which no piece that is still on its way lies in. */
  take(size: number): ArrayBuffer {
    const oldest = this.#given.length < onTheWay ? undefined : this.#given.shift()
    // The transfer empties the old piece, so that nobody reads the bytes of another piece through it.
    return oldest === undefined || oldest.byteLength < size ? new ArrayBuffer(size) : oldest.transfer()
  }

  /** Records the buffer that holds a piece. */
  give(buffer: ArrayBuffer): void {
    this.#given.push(buffer)
  }

  /** What pieces were given in last, the oldest first. */
  get given(): ReadonlyArray<ArrayBuffer> {
    return this.#given
  }
}

/**
 * The memory of one upload, handed from request to request. What a request had is kept only when the server has told
 * that it has every byte of it; else it is left to whoever still holds its pieces.
 */
export class Pool {
  #kept: ReadonlyArray<ArrayBuffer> = []

  lend(): Memory {
    const memory = new Memory(this.#kept)
    this.#kept = []
    return memory
  }

  keep({ given }: Memory): void {
    this.#kept = given
  }
}

/**
 * The memory that pieces may be read into again, from whoever sends them and knows that the HTTP client lets go of
 * them.
 * Without it each piece has memory of its own, and stays what it is.
 */
export const MemoryRef = Context.Reference<Memory | undefined>("@assembly-effect/tus/Memory", {
  defaultValue: () => undefined
})

/**
 * The size of the pieces of one source, in bytes. The next range of the source begins with the size that the last
 * reached.
 */
export interface PieceSize {
  size: number
}

/** Reads the pieces of one range: `next` gives the bytes at a position, at most so many, or none at the end. */
export interface Reader {
  readonly next: (
    position: bigint,
    atMost: bigint
  ) => Effect.Effect<Option.Option<Uint8Array>, PlatformError.PlatformError>
  /** Tells that all were taken. */
  readonly done: () => void
}

const readInto = (file: FileSystem.File, memory: Memory, size: number, position: bigint) =>
  Effect.suspend(() => {
    const buffer = memory.take(size)
    const piece = new Uint8Array(buffer, 0, size)
    return Effect.map(file.read(piece, { position }), (read) => {
      memory.give(buffer)
      return read === 0 ? Option.none() : Option.some(piece.subarray(0, read))
    })
  })

/** A reader of one range. After a range that was not read to its end, the next begins with small pieces again. */
export const reader = (file: FileSystem.File, pieceSize: PieceSize): Effect.Effect<Reader, never, Scope.Scope> =>
  Effect.gen(function* () {
    const budget = yield* ReadBudgetRef
    const clock = yield* Clock.Clock
    const memory = yield* MemoryRef
    yield* budget.join
    let { size } = pieceSize
    let readAt: number | undefined
    pieceSize.size = smallest
    return {
      next: (position, atMost) => {
        const now = clock.currentTimeMillisUnsafe()
        const { share } = budget
        size = Math.min(most(share), readAt === undefined ? size : grow(size, now - readAt))
        readAt = now
        const wanted = atMost < size ? Number(atMost) : size
        return memory !== undefined && wanted >= worthReusing && size * onTheWay <= share
          ? readInto(file, memory, wanted, position)
          : file.readAlloc(wanted, { position })
      },
      done: () => {
        pieceSize.size = Math.max(smallest, size)
      }
    }
  })
