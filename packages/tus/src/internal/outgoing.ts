/**
 * The bytes that are sent next, for every kind of source.
 */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as AuthPieces from "@assembly-effect/auth/unstable/Pieces"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tus from "../Tus.ts"
import { UploadBandwidth } from "./bandwidth.ts"
import * as Pieces from "./pieces.ts"
import { type OneShot, type Replayable, type SourceFailed, sourceFailed, wholeOf } from "./source.ts"

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

/** The maximum size of a request body in bytes, where one is needed and `chunkSize` is not set. */
export const defaultSize = 8 * 1024 * 1024

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
      const [stream, length] = [source.bytes(start, end), end - start]
      return streams
        ? Effect.succeed(body({ stream: Pieces.exactly(stream, length), length }))
        : Effect.map(Pieces.collect(stream, length), body)
    }
  }
}

/** The bytes of a body, in memory. */
export const inMemory = (bytes: Body["bytes"]): Effect.Effect<Uint8Array, SourceFailed> =>
  "stream" in bytes ? Pieces.collect(bytes.stream, bytes.length) : Effect.succeed(bytes)

/** All bytes of a source that can be read again, in memory. */
export const readWhole = (source: Replayable): Effect.Effect<Uint8Array, SourceFailed> =>
  Effect.filterOrFail(
    wholeOf(source) ?? Pieces.collect(source.bytes(0n, source.size), source.size),
    ({ length }) => BigInt(length) === source.size,
    ({ length }) => Pieces.tooShort(BigInt(length), source.size)
  )

/**
 * A streamed body on its way, whose pieces wait for the bandwidth.
 *
 * - `onMove`: is called with the number of sent bytes, and with whether all bytes were sent.
 * - `millisOf`: the maximum time without progress in milliseconds, before and after the last byte. The wait for the
 *   bandwidth does not count.
 * - `late`: returns when this time has passed, with its length in milliseconds.
 */
export const moving = Effect.fnUntraced(function* <E>(
  body: Stream.Stream<Uint8Array, E>,
  onMove: (sent: number, isAll: boolean) => void,
  millisOf: (isAll: boolean) => number
) {
  const clock = yield* Clock.Clock
  const bandwidth = yield* UploadBandwidth
  let sent = 0
  let isAll = false
  let movedAt = -Infinity
  const move = () => {
    movedAt = clock.currentTimeMillisUnsafe()
    onMove(sent, isAll)
  }
  const waiting = bandwidth?.stream(body, () => {
    movedAt = Infinity
  })
  const stream = AuthPieces.mapPieces(
    waiting ?? body,
    (piece) => {
      sent += piece.length
      move()
      return Effect.succeed([piece])
    },
    Effect.sync(() => {
      isAll = true
      move()
    })
  )
  const watch: Effect.Effect<number> = Effect.suspend(() => {
    const most = millisOf(isAll)
    const left = Math.min(most, movedAt + most - clock.currentTimeMillisUnsafe())
    return left <= 0 ? Effect.succeed(most) : Effect.andThen(Effect.sleep(left), watch)
  })
  const late = Effect.suspend(() => {
    movedAt = Math.max(movedAt, clock.currentTimeMillisUnsafe())
    return watch
  })
  return { stream, late, sent: () => sent }
})

/**
 * The bodies for a one-shot stream. The bytes that the server has not acknowledged yet are held in memory, because they
 * may be sent again. The stream is read until more than `windowSize` bytes are held: at least one byte more, because
 * this byte shows that the stream continues. If the stream ends by then, its size is known.
 */
export const oneShot = (
  source: OneShot,
  { streams, windowSize }: { readonly windowSize: number; readonly streams: boolean }
): Effect.Effect<Outgoing, SourceFailed, Scope.Scope> =>
  Effect.gen(function* () {
    // `Stream.toPull` would add the code of Effect's semaphores to a bundle.
    const pull = yield* Channel.toPullScoped(Stream.toChannel(source.stream), yield* Effect.scope)
    /** The held bytes: `count` bytes from the offset `start`. */
    let held: ReadonlyArray<Uint8Array> = []
    let start = 0n
    let count = 0
    let hasEnded = false

    const fill: Effect.Effect<void, SourceFailed> = Effect.gen(function* () {
      const more: Array<Uint8Array> = []
      while (!hasEnded && count <= windowSize) {
        const emitted = yield* Pull.catchDone(pull, () => Effect.undefined)
        hasEnded = emitted === undefined
        for (const each of emitted ?? []) {
          const piece = yield* Pieces.own(each)
          if (piece.length > 0) more.push(piece)
          count += piece.length
        }
      }
      if (more.length > 0) held = [...held, ...more]
      yield* check
    })

    /** Fails if held bytes were taken away, or if the bytes that were read so far contradict the announced size. */
    const check = Effect.gen(function* () {
      if (held.reduce((sum, { length }) => sum + length, 0) !== count) {
        return yield* sourceFailed("Changed", "the memory of a piece was taken away")
      }
      const seen = start + BigInt(count)
      const { size: announced = seen } = source
      if (seen > announced) return yield* Pieces.tooLong(announced)
      if (hasEnded && seen < announced) return yield* Pieces.tooShort(seen, announced)
    })

    const totalSize = () => (hasEnded ? start + BigInt(count) : undefined)

    yield* fill
    const size = source.size ?? totalSize()
    return {
      size,
      replayable: false,
      from: (offset, next) =>
        Effect.gen(function* () {
          if (offset < start || offset > start + BigInt(count)) {
            return yield* sourceFailed(
              "NotReplayable",
              `the server needs the byte ${offset}, but the source can be read only once and is at the byte ${start}`
            )
          }
          yield* check
          // The acknowledged bytes are not held while the next bytes are read.
          const released = Number(offset - start)
          held = Pieces.range(held, released, count)
          count -= released
          start = offset
          yield* fill
          const length = smaller(next(BigInt(count)), BigInt(windowSize))
          const parts = Pieces.range(held, 0, Number(length))
          return {
            start: offset,
            end: offset + length,
            total: size ?? totalSize(),
            bytes: streams ? { stream: Pieces.inRegularPieces(parts), length } : Bytes.join(parts)
          }
        })
    }
  })
