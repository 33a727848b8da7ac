import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type FileHandle, open } from "node:fs/promises"

/** More bytes came than there is room for. The chunk that was too long was not stored. */
export class NoRoom extends Data.TaggedError("NoRoom") {}

/** Chunks of 64 KiB, as sockets bring them, that may wait for one upload: 1 MiB, and 32 MiB for all together. */
const capacityFor = (writers: number): number => Math.max(1, Math.min(16, Math.floor(512 / writers)))

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
const openToAppend = (path: string): Effect.Effect<FileHandle, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => open(path, "a", 0o600)),
    (file) => Effect.promise(() => file.close())
  )

/** One write of many chunks. A disk that takes only some of the bytes gets the rest in further ones. */
const writeAll = async (file: FileHandle, chunks: ReadonlyArray<Uint8Array>): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks)
  const size = chunks.reduce((total, chunk) => total + chunk.length, 0)
  if (bytesWritten < size) await file.appendFile(Buffer.concat(chunks).subarray(bytesWritten))
}

/**
 * Writes what one request brings: what came while a write was under way is the next one, and is hashed meanwhile.
 * `capacity` is how many chunks may wait. What was taken is written when it has ended, however `bytes` ends.
 */
const writeGathered = <E>(
  file: FileHandle,
  bytes: Stream.Stream<Uint8Array, E>,
  options: {
    readonly capacity: number
    readonly room: bigint | undefined
    readonly onChunk: (chunk: Uint8Array) => void
  }
): Effect.Effect<void, E | NoRoom> =>
  Effect.gen(function* () {
    const { capacity, onChunk, room } = options
    const waiting = yield* Queue.bounded<Uint8Array, Cause.Done>(capacity)
    const hasRoom = limit(room)
    const write = Effect.flatMap(Queue.takeBetween(waiting, 1, capacity), (chunks) =>
      Effect.promise(() => {
        const written = writeAll(file, chunks)
        for (const chunk of chunks) onChunk(chunk)
        return written
      })
    )
    const writing = yield* write.pipe(
      Effect.forever({ disableYield: true }),
      Effect.catchIf(Cause.isDone, () => Effect.void),
      // Nobody waits for a disk that failed.
      Effect.ensuring(Queue.shutdown(waiting)),
      Effect.uninterruptible,
      Effect.forkChild({ startImmediately: true })
    )
    const take = (chunk: Uint8Array) => (hasRoom(chunk) ? Queue.offer(waiting, chunk) : Effect.fail(new NoRoom()))
    yield* Stream.runForEachArray(bytes, (chunks) =>
      Effect.uninterruptible(Effect.forEach(chunks, take, { discard: true }))
    ).pipe(Effect.ensuring(Effect.andThen(Queue.end(waiting), Fiber.join(writing))))
  })

/** Appends to files. All of them share the memory that waits for the disk. */
export const make = Effect.sync(() => {
  let writers = 0
  /**
   * Appends bytes as they come, at most `room` of them; `onChunk` sees them in order. However it ends – the stream
   * fails, the fiber is interrupted – what was written has left this process when it has ended.
   */
  return <E>(
    path: string,
    bytes: Stream.Stream<Uint8Array, E>,
    options: { readonly room: bigint | undefined; readonly onChunk: (chunk: Uint8Array) => void }
  ): Effect.Effect<void, E | NoRoom> =>
    openToAppend(path).pipe(
      Effect.flatMap((file) => {
        writers += 1
        return Effect.ensuring(
          writeGathered(file, bytes, { ...options, capacity: capacityFor(writers) }),
          Effect.sync(() => void (writers -= 1))
        )
      }),
      Effect.scoped
    )
})
