/**
 * Reads a file piece by piece, and decides the size of the pieces and the memory for them.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

const kibi = 1024

/**
 * The size of the first piece of a source in bytes. If many readers share the {@link ReadBudget}, the first piece is
 * smaller. A later range of the source may start with a larger piece.
 */
export const smallest = 64 * kibi
const largest = 1024 * kibi

/** The minimum size of a piece in bytes, however many readers there are. */
const least = 16 * kibi

/** If the HTTP client requests the next piece in less than this time (in milliseconds), the next piece is larger. */
const fast = 100

/**
 * The number of bytes that all readers of files share. Pieces of 1 MiB reach the speed of a raw socket and pieces of 64
 * KiB do not. But a thousand concurrent uploads with pieces of 1 MiB would need too much memory.
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

/** The budget that all uploads of the process share. */
const ReadBudgetRef = Context.Reference<ReadBudget>("@assembly-effect/tus/ReadBudget", {
  defaultValue: () => new ReadBudget(64 * kibi * kibi)
})

/** The number of pieces that one reader and its HTTP client hold: two are being sent while the next one is read. */
const held = 3

/**
 * The maximum size of a piece for a share, so that all pieces that are held at once fit into the share. The result is
 * never below `least`.
 */
const most = (share: number): number => Math.max(least, Math.min(largest, Math.floor(share / held)))

/**
 * The size of the next piece. The size starts small, doubles while the HTTP client requests pieces quickly, and halves
 * while the requests are slow. So the pieces stay small on a slow link, and each piece is sent well within the stall
 * timeout.
 */
const grow = (current: number, elapsed: number): number =>
  elapsed < fast ? current * 2 : elapsed > fast * 10 ? Math.max(least, Math.floor(current / 2)) : current

/**
 * The number of pieces that are emitted before the memory of the oldest piece is reused. A client that is registered
 * with `PieceMemory.register` holds at most three pieces: one in the socket, one that waits for the socket, and one
 * that the client has requested.
 */
const onTheWay = 8

/**
 * The minimum size in bytes of a piece whose memory is reused. For smaller pieces, reuse is not worthwhile: when such a
 * piece is freed, the process uses its memory for other pieces. HTTP clients may also hold many small pieces.
 */
const worthReusing = 256 * kibi

/**
 * The memory of the pieces of one request. Without reuse, allocating and freeing memory would be most of the cost of
 * sending a file.
 */
export class Memory {
  readonly #given: Array<ArrayBuffer>
  constructor(given: ReadonlyArray<ArrayBuffer>) {
    this.#given = [...given]
  }

  /** Returns memory of at least the given size, which contains no piece that is still being sent. */
  take(size: number): ArrayBuffer {
    const oldest = this.#given.length < onTheWay ? undefined : this.#given.shift()
    // `transfer` detaches the old piece, so that it never shows the bytes of a new piece.
    return oldest === undefined || oldest.byteLength < size ? new ArrayBuffer(size) : oldest.transfer()
  }

  /** Records the buffer that holds a piece. */
  give(buffer: ArrayBuffer): void {
    this.#given.push(buffer)
  }

  /** The buffers of the emitted pieces, oldest first. */
  get given(): ReadonlyArray<ArrayBuffer> {
    return this.#given
  }
}

/**
 * The memory to reuse. This memory is set only if the HTTP client is known to release the pieces. Otherwise each piece
 * has its own memory and never changes.
 */
const MemoryRef = Context.Reference<Memory | undefined>("@assembly-effect/tus/Memory", {
  defaultValue: () => undefined
})

/**
 * The memory of one upload, which its requests use one after another. The memory of a request is used again only if the
 * server has acknowledged all its bytes, because otherwise the HTTP client may still use the pieces of this request.
 */
export class Pool {
  #kept: ReadonlyArray<ArrayBuffer> = []

  /** The body of a request, whose pieces use the memory. Call `keep` when the server has acknowledged all its bytes. */
  lend<E>(body: Stream.Stream<Uint8Array, E>): {
    readonly body: Stream.Stream<Uint8Array, E>
    readonly keep: () => void
  } {
    const memory = new Memory(this.#kept)
    this.#kept = []
    return {
      body: Stream.provideService(body, MemoryRef, memory),
      keep: () => {
        this.#kept = memory.given
      }
    }
  }
}

/**
 * The size in bytes of the first piece of the next range of a source: the last size if the previous range was read to
 * its end, otherwise {@link smallest}.
 */
export interface PieceSize {
  size: number
}

/**
 * Reads the pieces of one range. `next` returns at most `atMost` bytes at `position`, or `None` at the end.
 */
export interface Reader {
  readonly next: (
    position: bigint,
    atMost: bigint
  ) => Effect.Effect<Option.Option<Uint8Array>, PlatformError.PlatformError>
  /** Call this function when all pieces of the range were read. */
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

/** A reader of one range. If a range was not read to its end, the next range starts with small pieces again. */
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
