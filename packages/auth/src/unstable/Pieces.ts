/**
 * Streams of bytes, piece by piece.
 *
 * `mapPieces` replaces `Stream.tap`, `mapEffect`, `flatMap` and `concat`, whose code would add Effect's semaphores and
 * loggers to a bundle.
 */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"

type Pieces = Arr.NonEmptyReadonlyArray<Uint8Array>

/**
 * Replaces each piece of a stream by other pieces, which are emitted one at a time.
 *
 * - `each`: returns the pieces that replace one piece, or no pieces to drop the piece. `each` may fail.
 * - `end`: runs after the last piece, and may fail.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mapPieces = <E, R, E2 = never, E3 = never>(
  stream: Stream.Stream<Uint8Array, E, R>,
  each: (piece: Uint8Array) => Effect.Effect<ReadonlyArray<Uint8Array>, E2>,
  end: Effect.Effect<void, E3> = Effect.void
): Stream.Stream<Uint8Array, E | E2 | E3, R> =>
  Stream.transformPull(stream, (pull) =>
    Effect.sync(() => {
      /** The pieces that are not replaced yet, and those that are not emitted yet: the next piece is the last one. */
      const given: Array<Uint8Array> = []
      const made: Array<Uint8Array> = []
      const step = (): Effect.Effect<Pieces, E | E2 | E3 | Cause.Done> => {
        const ready = made.pop()
        if (ready !== undefined) return Effect.succeed([ready])
        const piece = given.pop()
        const more: Effect.Effect<ReadonlyArray<Uint8Array>, E | E2 | Cause.Done> = piece === undefined
          ? pull
          : each(piece)
        return Effect.flatMap(more, (pieces) => {
          for (const one of pieces.toReversed()) (piece === undefined ? given : made).push(one)
          return step()
        })
      }
      return Pull.catchDone(Effect.suspend(step), () => Effect.andThen(end, Cause.done()))
    })
  )
