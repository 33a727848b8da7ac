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
import * as StorageFailure from "../data/StorageFailure.ts"

/** More bytes came than there is room for. The chunk that was too long was not stored. */
export class NoRoom extends Data.TaggedError("NoRoom") {}

/** Bytes of one upload that may wait for the disk: at most 1 MiB, and 16 MiB for all together. */
const capacityFor = (writers: number): number => Math.min(1024 * 1024, Math.floor((16 * 1024 * 1024) / writers))

/** Chunks of one write, of which systems take 1024. */
const maxChunks = 512

/** Who watches an append. */
export interface Observer {
  /** Sees each chunk, in order, while it is on its way to the disk. */
  readonly onChunk: (chunk: Uint8Array) => void
  /** So many bytes stand in the file. */
  readonly onWritten: (size: number) => Effect.Effect<void>
}

export const nobody: Observer = { onChunk: () => undefined, onWritten: () => Effect.void }

/** Refuses the chunk that would take more than `room`. */
const limit = (room: bigint | undefined) => {
  let left = room
  return (chunk: Uint8Array): boolean => {
    if (left === undefined) return true
    if (BigInt(chunk.length) > left) return false
    left -= BigInt(chunk.length)
    return true
  }
}

/** Open to append. Effect's own File cannot write many chunks at once. */
const openToAppend = (path: string): Effect.Effect<FileHandle, StorageFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(path, "a", 0o600), catch: StorageFailure.fromSystem(path) }),
    // What it says about bytes it has said of the writes already.
    (file) => Effect.promise(() => file.close().catch(() => undefined))
  )

const sizeOf = (chunks: ReadonlyArray<Uint8Array>): number => chunks.reduce((total, chunk) => total + chunk.length, 0)

/** One write of many chunks. A disk that takes only some of the bytes gets the rest in further ones. */
const writeAll = async (file: FileHandle, chunks: ReadonlyArray<Uint8Array>): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten < sizeOf(chunks)) await file.appendFile(Buffer.concat(chunks).subarray(bytesWritten))
}

/**
 * Writes what one request brings: what came while a write was under way is the next one. What was taken is written when
 * it has ended, however `bytes` ends.
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
    /** What a chunk takes: one that is larger than all there is waits until nothing else does. */
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
      // Nobody waits for a disk that failed: whoever takes places now learns of it.
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

/** Appends to files. All of them share the memory that waits for the disk. */
export const make = Effect.sync(() => {
  let writers = 0
  /**
   * Appends bytes as they come, at most `room` of them. However it ends – the stream fails, the fiber is interrupted –
   * what was written has left this process when it has ended.
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
