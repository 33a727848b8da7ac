/**
 * What the test Layers share.
 */
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { UploadSource, SourceFailed } from "./source.ts"

/** Reads a source to its end, and returns the number of its bytes. */
export const read = (source: UploadSource): Effect.Effect<bigint, SourceFailed> =>
  Stream.runFold(
    source._tag === "Replayable" ? source.bytes(0n, source.size) : source.stream,
    () => 0n,
    (sum, piece) => sum + BigInt(piece.length)
  )

/** Emits the events of a stream while it is read. `Stream.tap` would add Effect's semaphores to a bundle. */
export const told = <Event, E>(
  events: Stream.Stream<Event, E>,
  emit: (event: Event) => void
): Stream.Stream<Event, E> =>
  Stream.map(events, (event) => {
    emit(event)
    return event
  })
