/**
 * Reads a file piece by piece, and decides the size of the pieces and the memory for them.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

const kibi = 1024

/** The size of the first piece of a source in bytes. A later range of the source may start with a larger piece. */
export const smallest = 64 * kibi
const largest = 1024 * kibi

/** The minimum size of a piece in bytes, however many readers there are. */
const least = 16 * kibi

/**
 * If the HTTP client requests the next piece in less than this time (in milliseconds), the next piece is twice as large.
 * So the pieces stay small on a slow link, and each piece is sent well within the stall timeout.
 */
const fast = 100

/** The number of pieces that one reader and its HTTP client hold: two are being sent while the next one is read. */
const held = 3

/**
 * The number of bytes that all readers of files of the process share, and the number of readers. Pieces of 1 MiB reach
 * the speed of a raw socket and pieces of 64 KiB do not. But a thousand concurrent uploads with pieces of 1 MiB would
 * need too much memory.
 */
const ReadBudget = Context.Reference<{ readonly bytes: number; readers: number }>("@assembly-effect/tus/ReadBudget", {
  defaultValue: () => ({ bytes: 64 * kibi * kibi, readers: 0 })
})

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
 * The memory of the emitted pieces of one request, oldest first. It is set only if the HTTP client is known to release
 * the pieces. Otherwise each piece has its own memory and never changes. Without reuse, allocating and freeing memory
 * would be most of the cost of sending a file.
 */
const Memory = Context.Reference<Array<ArrayBuffer> | undefined>("@assembly-effect/tus/Memory", {
  defaultValue: () => undefined
})

/** Returns memory of at least the given size, which contains no piece that is still being sent. */
export const take = (memory: Array<ArrayBuffer>, size: number): ArrayBuffer => {
  const oldest = memory.length < onTheWay ? undefined : memory.shift()
  // `transfer` detaches the old piece, so that it never shows the bytes of a new piece.
  return oldest === undefined || oldest.byteLength < size ? new ArrayBuffer(size) : oldest.transfer()
}

/**
 * The memory of one upload, which its requests use one after another. The memory of a request is used again only if the
 * server has acknowledged all its bytes, because otherwise the HTTP client may still use the pieces of this request.
 */
export class Pool {
  #kept: ReadonlyArray<ArrayBuffer> = []

  /** The body of a request, whose pieces use the memory. Call `keep` when the server has acknowledged all its bytes. */
  lend<E>(body: Stream.Stream<Uint8Array, E>) {
    const memory = [...this.#kept]
    this.#kept = []
    return {
      body: Stream.provideService(body, Memory, memory),
      keep: () => {
        this.#kept = memory
      }
    }
  }
}

const readInto = (file: FileSystem.File, memory: Array<ArrayBuffer>, size: number, position: bigint) =>
  Effect.suspend(() => {
    const buffer = take(memory, size)
    const piece = new Uint8Array(buffer, 0, size)
    return Effect.map(file.read(piece, { position }), (read) => {
      memory.push(buffer)
      return read === 0 ? Option.none() : Option.some(piece.subarray(0, read))
    })
  })

/**
 * Reads the pieces of one range, until its scope closes. `next` returns at most `atMost` bytes at `position`, or `None` at
 * the end. Call `done` when all pieces of the range were read: the next range then starts with pieces of the last size.
 * `pieceSize` has the size in bytes of the first piece of the next range of a source.
 */
export const reader = Effect.fnUntraced(function* (file: FileSystem.File, pieceSize: { size: number }) {
  const budget = yield* ReadBudget
  const clock = yield* Clock.Clock
  const memory = yield* Memory
  budget.readers++
  yield* Effect.addFinalizer(() => Effect.sync(() => void budget.readers--))
  let { size } = pieceSize
  let readAt = -Infinity
  pieceSize.size = smallest
  return {
    next: (position: bigint, atMost: bigint) => {
      const now = clock.currentTimeMillisUnsafe()
      const share = Math.floor(budget.bytes / budget.readers)
      const most = Math.max(least, Math.min(largest, Math.floor(share / held)))
      size = Math.min(most, now - readAt < fast ? size * 2 : size)
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
