/**
 * The bytes of a one-shot stream that the server has not acknowledged yet: an immutable value and its transitions.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type { SourceFailed } from "../UploadSource.ts"

/** The default size of a window, if `chunkSize` is not set. */
export const defaultSize = 8 * 1024 * 1024

/**
 * - `start`: the offset of the first byte held.
 * - `pieces`: the bytes from `start`, `size` bytes in total.
 * - `ended`: whether the stream has ended.
 */
export interface Window {
  readonly start: bigint
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly size: number
  readonly ended: boolean
}

export const empty: Window = { start: 0n, pieces: [], size: 0, ended: false }

/** The next pieces of a stream, or undefined after the last. */
export type Reader = Effect.Effect<ReadonlyArray<Uint8Array> | undefined, SourceFailed>

export const reader = (pull: Pull.Pull<ReadonlyArray<Uint8Array>, SourceFailed, void>): Reader =>
  Pull.catchDone(pull as Effect.Effect<ReadonlyArray<Uint8Array> | undefined, SourceFailed | Cause.Done>, () =>
    Effect.succeed(undefined)
  )

/**
 * Reads until the window holds more than `size` bytes, or the stream ends. One byte more than `size` is read, because
 * it shows that the stream continues.
 */
export const fill = (window: Window, read: Reader, size: number): Effect.Effect<Window, SourceFailed> =>
  Effect.suspend(() => {
    if (window.ended || window.size > size) return Effect.succeed(window)
    const pieces = [...window.pieces]
    let held = window.size
    const loop: Effect.Effect<Window, SourceFailed> = Effect.flatMap(read, (more) => {
      if (more === undefined) return Effect.succeed({ start: window.start, pieces, size: held, ended: true })
      for (const piece of more) {
        if (piece.length === 0) continue
        pieces.push(piece)
        held += piece.length
      }
      return held > size ? Effect.succeed({ start: window.start, pieces, size: held, ended: false }) : loop
    })
    return loop
  })

/** The window without the bytes before an offset. */
export const release = (window: Window, offset: bigint): Window => {
  let drop = Number(offset - window.start)
  const pieces: Array<Uint8Array> = []
  for (const piece of window.pieces) {
    if (drop >= piece.length) {
      drop -= piece.length
      continue
    }
    pieces.push(drop === 0 ? piece : piece.subarray(drop))
    drop = 0
  }
  return { ...window, start: offset, pieces, size: window.size - Number(offset - window.start) }
}

/** The first bytes of the window, at most `size`, without copying. */
export const first = (window: Window, size: number): ReadonlyArray<Uint8Array> => {
  const parts: Array<Uint8Array> = []
  let left = size
  for (const piece of window.pieces) {
    if (left === 0) break
    const part = piece.subarray(0, left)
    parts.push(part)
    left -= part.length
  }
  return parts
}

/** The size of the whole stream, if its end is in the window. */
export const total = (window: Window): bigint | undefined =>
  window.ended ? window.start + BigInt(window.size) : undefined
