import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { type FileHandle, open } from "node:fs/promises"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as StorageFailure from "../data/storageFailure.ts"

/**
 * With the next chunk, more bytes than permitted would be appended. This chunk was not stored; the chunks before it
 * were.
 */
export class NoRoom extends Data.TaggedError("NoRoom") {}

/** The buffer size of a new writer in bytes: an equal share of 16 MiB among the current writers, but at most 1 MiB. */
const capacityFor = (writers: number): number => Math.min(1024 * 1024, Math.floor((16 * 1024 * 1024) / writers))

/** The maximum number of chunks in one write. The operating system allows 1024. */
const maxChunks = 512

/** Observes the bytes that are appended to a file. */
export interface Observer {
  /** Receives each chunk in order, when its write starts. */
  readonly onChunk: (chunk: Uint8Array) => void
  /** Receives, after each write, the number of bytes that the current writer has appended so far. */
  readonly onWritten: (size: number) => Effect.Effect<void>
}

export const nobody: Observer = { onChunk: () => undefined, onWritten: () => Effect.void }

/** Returns a predicate that accepts chunks until their total size would exceed `room` bytes. */
const limit = (room: bigint | undefined) => {
  let left = room
  return (chunk: Uint8Array): boolean => {
    if (left === undefined) return true
    if (BigInt(chunk.length) > left) return false
    left -= BigInt(chunk.length)
    return true
  }
}

/** Opens a file for appending with Node, because Effect's `File` cannot write several chunks in one call. */
const openToAppend = (path: string): Effect.Effect<FileHandle, StorageFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(path, "a", 0o600), catch: StorageFailure.fromSystem(path) }),
    // An error of `close` is ignored, because the result of the writes is already known.
    (file) => Effect.promise(() => file.close().catch(() => undefined))
  )

const sizeOf = (chunks: ReadonlyArray<Uint8Array>): number => chunks.reduce((total, chunk) => total + chunk.length, 0)

/**
 * Writes many chunks in one call. If the operating system writes only some of the bytes, the remaining bytes are
 * appended.
 */
const writeAll = async (file: FileHandle, chunks: ReadonlyArray<Uint8Array>): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten < sizeOf(chunks)) await file.appendFile(Buffer.concat(chunks).subarray(bytesWritten))
}

/**
 * Appends one stream of bytes to a file. Chunks that arrive during a write are written together by the next write. The
 * effect ends only after all received chunks are written, even if `bytes` fails or is interrupted.
 */
const writeGathered = <E>(
  path: string,
  file: FileHandle,
  bytes: Stream.Stream<Uint8Array, E>,
  capacity: number,
  room: bigint | undefined,
  { onChunk, onWritten }: Observer
): Effect.Effect<void, E | NoRoom | StorageFailed> =>
  // Only the reading can be interrupted, because nothing else ends the fiber that writes.
  Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore) {
      const waiting = yield* Queue.unbounded<Uint8Array, Cause.Done>()
      const hasRoom = limit(room)
      const places = Semaphore.makeUnsafe(capacity)
      /**
       * The number of permits that a chunk takes: one for each byte. A chunk that is larger than the buffer takes all
       * permits, so it waits until the buffer is empty.
       */
      const placesFor = (chunk: Uint8Array): number => Math.min(chunk.length, capacity)
      let written = 0
      let failed: StorageFailed | undefined

      const write = Effect.gen(function* () {
        const chunks = yield* Queue.takeBetween(waiting, 1, maxChunks)
        yield* Effect.tryPromise({
          try: () => {
            const writing = writeAll(file, chunks)
            for (const chunk of chunks) onChunk(chunk)
            return writing
          },
          catch: StorageFailure.fromSystem(path)
        })
        yield* places.release(chunks.reduce((total, chunk) => total + placesFor(chunk), 0))
        written += sizeOf(chunks)
        yield* onWritten(written)
      })

      const writing = yield* write.pipe(
        Effect.forever({ disableYield: true }),
        Effect.catchIf(Cause.isDone, () => Effect.void),
        Effect.catch((error) => Effect.sync(() => void (failed = error))),
        // All permits are released, so that no chunk waits for permits after a failed write.
        Effect.ensuring(Effect.andThen(Queue.shutdown(waiting), places.releaseAll)),
        Effect.uninterruptible,
        Effect.forkChild({ startImmediately: true })
      )

      const check = Effect.suspend(() => (failed === undefined ? Effect.void : Effect.fail(failed)))

      const take = Effect.fnUntraced(function* (chunk: Uint8Array) {
        yield* check
        if (!hasRoom(chunk)) return yield* new NoRoom()
        yield* places.take(placesFor(chunk))
        yield* check
        yield* Queue.offer(waiting, chunk)
      })

      const reading = Stream.runForEachArray(bytes, (chunks) =>
        Effect.uninterruptible(Effect.forEach(chunks, take, { discard: true }))
      )
      yield* Effect.ensuring(restore(reading), Effect.andThen(Queue.end(waiting), Fiber.join(writing)))
      yield* check
    })
  )

/** Makes a function that appends bytes to files. A new writer gets a smaller buffer if many writers are running. */
export const make = Effect.sync(() => {
  let writers = 0
  /**
   * Appends bytes as they arrive, at most `room` bytes. When the effect ends, even by an interruption or by a failure
   * of `bytes`, the operating system has all received bytes.
   */
  return <E>(
    path: string,
    bytes: Stream.Stream<Uint8Array, E>,
    room: bigint | undefined,
    observer: Observer
  ): Effect.Effect<void, E | NoRoom | StorageFailed> =>
    Effect.acquireRelease(
      Effect.sync(() => capacityFor(++writers)),
      () => Effect.sync(() => void (writers -= 1))
    ).pipe(
      Effect.zip(openToAppend(path)),
      Effect.flatMap(([capacity, file]) => writeGathered(path, file, bytes, capacity, room, observer)),
      Effect.scoped
    )
})
