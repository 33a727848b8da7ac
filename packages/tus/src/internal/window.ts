/**
 * The window of a one-shot stream: the bytes that were read, but not yet acknowledged by the server. A window is an
 * immutable value with pure transitions.
 */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import { failedWith, type SourceFailed } from "./sourceFailed.ts"
import * as Pieces from "./pieces.ts"

/** The size of a window in bytes, if `chunkSize` is not set. */
export const defaultSize = 8 * 1024 * 1024

/**
 * - `start`: the offset of the first byte in the window.
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

/** Reads the next pieces of a stream. Returns undefined after the last piece. */
export type Reader = Effect.Effect<ReadonlyArray<Uint8Array> | undefined, SourceFailed>

export const reader = (pull: Pull.Pull<ReadonlyArray<Uint8Array>, SourceFailed, void>): Reader =>
  Pull.catchDone(pull as Effect.Effect<ReadonlyArray<Uint8Array> | undefined, SourceFailed | Cause.Done>, () =>
    Effect.succeed(undefined)
  )

/**
 * Reads until the window contains more than `size` bytes, or the stream ends. At least one byte beyond `size` is read,
 * because this byte shows that the stream continues.
 */
export const fill = (window: Window, read: Reader, size: number): Effect.Effect<Window, SourceFailed> =>
  Effect.suspend(() => {
    if (window.ended || window.size > size) return Effect.succeed(window)
    const pieces = [...window.pieces]
    let held = window.size
    const loop: Effect.Effect<Window, SourceFailed> = Effect.flatMap(read, (more) => {
      if (more === undefined) return Effect.succeed({ start: window.start, pieces, size: held, ended: true })
      for (const emitted of more) {
        const piece = Bytes.own(emitted)
        if (piece === undefined) return Effect.fail(failedWith(Pieces.notBytes()))
        if (piece.length === 0) continue
        pieces.push(piece)
        held += piece.length
      }
      return held > size ? Effect.succeed({ start: window.start, pieces, size: held, ended: false }) : loop
    })
    return loop
  })

/** The window without the bytes before `offset`. */
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

/** The first bytes of the window, at most `size` bytes. No byte is copied. */
export const first = (window: Window, size: number): Array<Uint8Array> => {
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

/** The size of the whole stream, if the stream has ended. */
export const total = (window: Window): bigint | undefined =>
  window.ended ? window.start + BigInt(window.size) : undefined
