/**
 * The bytes that are sent next, for every kind of source.
 */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tus from "../Tus.ts"
import type { OneShot, Replayable } from "./source.ts"
import { failedWith, SourceFailed } from "./sourceFailed.ts"
import * as Pieces from "./pieces.ts"
import * as Window from "./window.ts"

/**
 * The body of the next request: the bytes from `start` to `end`, and the total size if it is known.
 */
export interface Body {
  readonly start: bigint
  readonly end: bigint
  readonly total: bigint | undefined
  readonly bytes: Tus.Body<SourceFailed>
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** The number of bytes in the next body, when `left` bytes remain. */
type Next = (left: bigint) => bigint

/**
 * `from` returns the body that starts at an offset. `size` is undefined if the size of the source is unknown when the
 * upload starts; `size` stays undefined when the end of the source is reached. A source that is not `replayable`
 * releases the bytes before the last requested offset.
 */
export interface Outgoing {
  readonly size: bigint | undefined
  readonly replayable: boolean
  readonly from: (offset: bigint, next: Next) => Effect.Effect<Body, SourceFailed>
}

/**
 * The bodies for a range of a source that can be read again. If the platform cannot stream, a body is an array, never a
 * Blob: a `fetch` that does not know the class of the Blob would send the text `[object Blob]`.
 */
export const replayable = (
  source: Replayable,
  { end: limit, start: base, streams }: { readonly start: bigint; readonly end: bigint; readonly streams: boolean }
): Outgoing => {
  const size = limit - base
  return {
    size,
    replayable: true,
    from: (offset, next) => {
      const start = base + offset
      const end = start + next(limit - start)
      const body = (bytes: Tus.Body<SourceFailed>): Body => ({ start: offset, end: end - base, total: size, bytes })
      if (start === end) return Effect.succeed(body(new Uint8Array(0)))
      const stream = Pieces.owned(source.bytes(start, end), failedWith)
      return streams
        ? Effect.succeed(body({ stream, length: end - start }))
        : Effect.map(collect(stream, end - start), body)
    }
  }
}

/** All bytes of a stream with a known size. */
export const collect = (
  stream: Stream.Stream<Uint8Array, SourceFailed>,
  length: bigint
): Effect.Effect<Uint8Array, SourceFailed> =>
  Effect.suspend(() => {
    const bytes = new Uint8Array(Number(length))
    let filled = 0
    return stream.pipe(
      Stream.runForEach((piece) => {
        if (filled + piece.length > bytes.length) return Effect.fail(tooLong(length))
        bytes.set(piece, filled)
        filled += piece.length
        return Effect.void
      }),
      Effect.flatMap(() =>
        filled === bytes.length ? Effect.succeed(bytes) : Effect.fail(tooShort(BigInt(filled), length))
      )
    )
  })

export const tooShort = (got: bigint, expected: bigint): SourceFailed =>
  new SourceFailed({ kind: "TooShort", description: `the source ended after ${got} of ${expected} bytes` })

export const tooLong = (expected: bigint): SourceFailed =>
  new SourceFailed({ kind: "TooLong", description: `the source has more than the announced ${expected} bytes` })

/** Fails if bytes of the window were taken away, or if the bytes that were read so far contradict the announced size. */
const checkSize = (window: Window.Window, size: bigint | undefined): Effect.Effect<Window.Window, SourceFailed> => {
  if (window.pieces.reduce((sum, { length }) => sum + length, 0) !== window.size) {
    return Effect.fail(new SourceFailed({ kind: "Changed", description: "the memory of a piece was taken away" }))
  }
  const seen = window.start + BigInt(window.size)
  if (size !== undefined && seen > size) return Effect.fail(tooLong(size))
  if (size !== undefined && window.ended && seen < size) return Effect.fail(tooShort(seen, size))
  return Effect.succeed(window)
}

/**
 * The bodies for a one-shot stream. A window keeps the bytes that may be sent again. The stream is read until the
 * window is full. If the stream ends by then, its size is known.
 */
export const oneShot = (
  source: OneShot,
  options: { readonly windowSize: number; readonly streams: boolean }
): Effect.Effect<Outgoing, SourceFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { streams, windowSize } = options
    // `Stream.toPull` would add the code of Effect's semaphores to a bundle.
    const scope = yield* Effect.scope
    const read = Window.reader(yield* Channel.toPullScoped(Stream.toChannel(source.stream), scope))
    const advance = (window: Window.Window) =>
      Effect.flatMap(Window.fill(window, read, windowSize), (filled) => checkSize(filled, source.size))

    let window = yield* advance(Window.empty)
    const size = source.size ?? Window.total(window)
    return {
      size,
      replayable: false,
      from: (offset, next) =>
        Effect.gen(function* () {
          if (offset < window.start || offset > window.start + BigInt(window.size)) {
            return yield* new SourceFailed({
              kind: "NotReplayable",
              description: `the server needs the byte ${offset}, but the source can be read only once and is at the byte ${window.start}`
            })
          }
          // The window changes in two steps, so that the acknowledged bytes are not held while the next bytes are read.
          window = Window.release(yield* checkSize(window, source.size), offset)
          window = yield* advance(window)
          const length = smaller(next(BigInt(window.size)), BigInt(windowSize))
          const parts = Window.first(window, Number(length))
          return {
            start: offset,
            end: offset + length,
            total: size ?? Window.total(window),
            bytes: streams ? { stream: Pieces.inRegularPieces(parts), length } : Bytes.join(parts)
          }
        })
    }
  })
