/**
 * The bytes of a source: as streams of pieces, their digests, and the bytes that are sent next, for every kind of source.
 */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tus from "../Tus.ts"
import { UploadBandwidth } from "./bandwidth.ts"
import { failedWith, type OneShot, type Replayable, type SourceFailed, sourceFailed, wholeOf } from "./source.ts"

/** Before small byte arrays are sent, they are joined until a piece has this size in bytes, or no array is left. */
const smallest = 64 * 1024

/** The maximum size of a piece in bytes. A larger byte array is cut. */
const memoryPiece = 256 * 1024

/** Cuts large pieces of a stream into smaller pieces, so that progress or a stall becomes visible sooner. */
export const cutLarge = <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Pieces.mapPieces(stream, (piece) => Effect.succeed(Bytes.cut(piece, memoryPiece)))

/** A piece as a `Uint8Array` of this realm. Fails for anything but an array of bytes, whatever its type says. */
const own = (piece: Uint8Array): Effect.Effect<Uint8Array, SourceFailed> => {
  const bytes = Bytes.own(piece)
  return bytes === undefined
    ? Effect.fail(failedWith(new TypeError("a piece is not a Uint8Array, or its memory was transferred")))
    : Effect.succeed(bytes)
}

const tooShort = (got: bigint, expected: bigint): SourceFailed =>
  sourceFailed("TooShort", `the source ended after ${got} of ${expected} bytes`)

const tooLong = (expected: bigint): SourceFailed =>
  sourceFailed("TooLong", `the source has more than the announced ${expected} bytes`)

type Source = Stream.Stream<Uint8Array, SourceFailed>

/** The pieces of a source as {@link own} arrays. Fails unless they have exactly `length` bytes. */
const exactly = (source: Source, length: bigint): Source =>
  Stream.suspend(() => {
    let count = 0n
    return Pieces.mapPieces(
      source,
      (piece) =>
        Effect.flatMap(own(piece), (bytes) => {
          count += BigInt(bytes.length)
          return count > length ? Effect.fail(tooLong(length)) : Effect.succeed([bytes])
        }),
      Effect.suspend(() => (count < length ? Effect.fail(tooShort(count, length)) : Effect.void))
    )
  })

/** All bytes of a source with a known size, in memory. */
export const collect = (source: Source, length: bigint): Effect.Effect<Uint8Array, SourceFailed> =>
  Effect.suspend(() => {
    const bytes = new Uint8Array(Number(length))
    let filled = 0
    const fill = Stream.runForEach(exactly(source, length), (piece) =>
      Effect.sync(() => {
        bytes.set(piece, filled)
        filled += piece.length
      })
    )
    return Effect.as(fill, bytes)
  })

/** Bytes in memory as a stream of pieces. */
export const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> => cutLarge(Stream.succeed(bytes))

/**
 * Emits byte arrays as pieces of a suitable size: joins small arrays and cuts large arrays. Each array is dropped when
 * it is emitted, so that an HTTP client that keeps a request after its response does not keep the arrays. Therefore the
 * stream can be read only once.
 */
const inRegularPieces = (parts: Array<Uint8Array>): Stream.Stream<Uint8Array> =>
  cutLarge(
    Stream.unfold(parts, () =>
      Effect.sync(() => {
        let count = 0
        let size = 0
        while (count < parts.length && size < smallest) size += parts[count++]?.length ?? 0
        return count === 0 ? undefined : ([Bytes.join(parts.splice(0, count)), parts] as const)
      })
    )
  )

/** The first `count` bytes of a source, or all its bytes if it has fewer. */
export const takeBytes = (source: Source, count: bigint): Source =>
  Stream.suspend(() => {
    let left = Number(count)
    if (left === 0) return Stream.empty
    const taken = Pieces.mapPieces(source, (piece) =>
      Effect.map(own(piece), (bytes) => {
        const part = bytes.subarray(0, left)
        left -= part.length
        return part.length === 0 ? [] : [part]
      })
    )
    return Stream.takeUntil(taken, () => left === 0)
  })

/** The bytes of the pieces from `start` to `end`. No byte is copied. */
const range = (pieces: ReadonlyArray<Uint8Array>, start: number, end: number): Array<Uint8Array> => {
  let at = 0
  return pieces.flatMap((piece) => {
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += piece.length
    return part.length === 0 ? [] : [part]
  })
}

const digestPiece = 1024 * 1024

/**
 * The identity of a source by its content: the SHA-256 of the SHA-256 digests of blocks of 1 MiB. The whole source is
 * read each time the effect runs.
 */
export const identityOf = (source: Replayable): Effect.Effect<string, SourceFailed> =>
  Effect.gen(function* () {
    const block = new Uint8Array(digestPiece)
    const digests: Array<Uint8Array> = []
    let filled = 0
    let left = source.size
    const add = Effect.fnUntraced(function* (piece: Uint8Array) {
      for (let at = 0; at < piece.length;) {
        const part = piece.subarray(at, at + digestPiece - filled)
        block.set(part, filled)
        filled += part.length
        at += part.length
        left -= BigInt(part.length)
        if (filled < digestPiece && left > 0n) continue
        digests.push(yield* Digests.digest(Digest.sha256, block.slice(0, filled)))
        filled = 0
      }
    })
    yield* Stream.runForEach(exactly(source.bytes(0n, source.size), source.size), add)
    return `sha256/1MiB ${yield* Digests.sha256(Bytes.join(digests))}`
  })

/**
 * The body of the next request: the bytes from `start` to `end`, the total size if it is known, and the value of
 * `upload-checksum` if the upload has checksums.
 */
export interface Body {
  readonly start: bigint
  readonly end: bigint
  readonly total: bigint | undefined
  readonly bytes: Tus.Body<SourceFailed>
  readonly checksum?: string
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** The maximum size of a request body in bytes, where one is needed and `chunkSize` is not set. */
export const defaultSize = 8 * 1024 * 1024

/**
 * `from` returns the body that starts at an offset; `next` is the number of its bytes when `left` bytes remain. `size` is undefined if the size of the source is unknown when the
 * upload starts; `size` stays undefined when the end of the source is reached. A source that is not `replayable`
 * releases the bytes before the last requested offset.
 */
export interface Outgoing {
  readonly size: bigint | undefined
  readonly replayable: boolean
  readonly from: (offset: bigint, next: (left: bigint) => bigint) => Effect.Effect<Body, SourceFailed>
}

/** The bodies for the range of a source from `base` to `limit`, which can be read again. */
export const replayable = (source: Replayable, base: bigint, limit: bigint): Outgoing => ({
  size: limit - base,
  replayable: true,
  from: (offset, next) => {
    const start = base + offset
    const length = next(limit - start)
    const stream = exactly(source.bytes(start, start + length), length)
    return Effect.succeed({ start: offset, end: offset + length, total: limit - base, bytes: { stream, length } })
  }
})

/** The bytes of a body, in memory. */
export const inMemory = (bytes: Body["bytes"]): Effect.Effect<Uint8Array, SourceFailed> =>
  "stream" in bytes ? collect(bytes.stream, bytes.length) : Effect.succeed(bytes)

/** All bytes of a source that can be read again, in memory. */
export const readWhole = (source: Replayable): Effect.Effect<Uint8Array, SourceFailed> =>
  Effect.filterOrFail(
    wholeOf(source) ?? collect(source.bytes(0n, source.size), source.size),
    ({ length }) => BigInt(length) === source.size,
    ({ length }) => tooShort(BigInt(length), source.size)
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
  const stream = Pieces.mapPieces(
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
export const oneShot = (source: OneShot, windowSize: number): Effect.Effect<Outgoing, SourceFailed, Scope.Scope> =>
  Effect.gen(function* () {
    // `Stream.toPull` would add the code of Effect's semaphores to a bundle.
    const pull = yield* Channel.toPullScoped(Stream.toChannel(source.stream), yield* Effect.scope)
    /** The held bytes: `count` bytes from the offset `start`. */
    let held: ReadonlyArray<Uint8Array> = []
    let start = 0n
    let count = 0
    let hasEnded = false

    const fill = Effect.gen(function* () {
      const more: Array<Uint8Array> = []
      while (!hasEnded && count <= windowSize) {
        const emitted = yield* Pull.catchDone(pull, () => Effect.undefined)
        hasEnded = emitted === undefined
        for (const each of emitted ?? []) {
          const piece = yield* own(each)
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
      if (seen > announced) return yield* tooLong(announced)
      if (hasEnded && seen < announced) return yield* tooShort(seen, announced)
    })

    const totalSize = () => (hasEnded ? start + BigInt(count) : undefined)

    yield* fill
    const size = source.size ?? totalSize()
    const from: Outgoing["from"] = Effect.fnUntraced(function* (offset, next) {
      if (offset < start || offset > start + BigInt(count)) {
        return yield* sourceFailed(
          "NotReplayable",
          `the server needs the byte ${offset}, but the source can be read only once and is at the byte ${start}`
        )
      }
      yield* check
      // The acknowledged bytes are not held while the next bytes are read.
      const released = Number(offset - start)
      held = range(held, released, count)
      count -= released
      start = offset
      yield* fill
      const length = smaller(next(BigInt(count)), BigInt(windowSize))
      const bytes = { stream: inRegularPieces(range(held, 0, Number(length))), length }
      return { start: offset, end: offset + length, total: size ?? totalSize(), bytes }
    })
    return { size, replayable: false, from }
  })
