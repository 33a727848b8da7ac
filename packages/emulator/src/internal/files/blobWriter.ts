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

/** The bytes exceed the permitted number. The chunk that exceeds it was not stored. */
export class NoRoom extends Data.TaggedError("NoRoom") {}

/** The bytes of one upload that are buffered for the disk: at most 1 MiB, and 16 MiB for all uploads together. */
const capacityFor = (writers: number): number => Math.min(1024 * 1024, Math.floor((16 * 1024 * 1024) / writers))

/** The maximum number of chunks in one write. The limit of the system is 1024. */
const maxChunks = 512

/** Observes an append. */
export interface Observer {
  /** Receives each chunk in order, before it is on the disk. */
  readonly onChunk: (chunk: Uint8Array) => void
  /** Receives the size of the file after a write. */
  readonly onWritten: (size: number) => Effect.Effect<void>
}

export const nobody: Observer = { onChunk: () => undefined, onWritten: () => Effect.void }

/** Fails at the chunk that exceeds `room`. */
const limit = (room: bigint | undefined) => {
  let left = room
  return (chunk: Uint8Array): boolean => {
    if (left === undefined) return true
    if (BigInt(chunk.length) > left) return false
    left -= BigInt(chunk.length)
    return true
  }
}

/** Opens a file to append. The File of Effect has no vectored write. */
const openToAppend = (path: string): Effect.Effect<FileHandle, StorageFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(path, "a", 0o600), catch: StorageFailure.fromSystem(path) }),
    // A failure to close is ignored, because the result of the writes is already known.
    (file) => Effect.promise(() => file.close().catch(() => undefined))
  )

const sizeOf = (chunks: ReadonlyArray<Uint8Array>): number => chunks.reduce((total, chunk) => total + chunk.length, 0)

/** Writes many chunks. If the system takes only a part, further writes follow. */
const writeAll = async (file: FileHandle, chunks: ReadonlyArray<Uint8Array>): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten < sizeOf(chunks)) await file.appendFile(Buffer.concat(chunks).subarray(bytesWritten))
}

/**
 * Writes the body of one request. Chunks that arrive during a write form the next write. Every received chunk is
 * written before the writer ends, also if `bytes` fails or is interrupted.
 */
const writeGathered = <E>(
  path: string,
  file: FileHandle,
  bytes: Stream.Stream<Uint8Array, E>,
  capacity: number,
  room: bigint | undefined,
  { onChunk, onWritten }: Observer
): Effect.Effect<void, E | NoRoom | StorageFailed> =>
  Effect.gen(function* () {
    const waiting = yield* Queue.unbounded<Uint8Array, Cause.Done>()
    const hasRoom = limit(room)
    const places = Semaphore.makeUnsafe(capacity)
    /** The permits that a chunk needs. A chunk that is larger than the buffer waits until the buffer is empty. */
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
      // After a failure no chunk waits for permits.
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

    yield* Stream.runForEachArray(bytes, (chunks) =>
      Effect.uninterruptible(Effect.forEach(chunks, take, { discard: true }))
    ).pipe(Effect.ensuring(Effect.andThen(Queue.end(waiting), Fiber.join(writing))))
    yield* check
  })

/** Appends to files. All uploads share the buffer. */
export const make = Effect.sync(() => {
  let writers = 0
  /**
   * Appends bytes as they arrive, at most `room` bytes. When it ends, also after a failure or an interruption, the
   * system has all received bytes.
   */
  return <E>(
    path: string,
    bytes: Stream.Stream<Uint8Array, E>,
    room: bigint | undefined,
    observer: Observer
  ): Effect.Effect<void, E | NoRoom | StorageFailed> =>
    openToAppend(path).pipe(
      Effect.flatMap((file) => {
        writers += 1
        return Effect.ensuring(
          writeGathered(path, file, bytes, capacityFor(writers), room, observer),
          Effect.sync(() => void (writers -= 1))
        )
      }),
      Effect.scoped
    )
})
