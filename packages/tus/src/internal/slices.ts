/**
 * The size of bodies that a platform sends as a whole. The progress of such a slice is unknown until its response, so
 * its size determines how soon a stall and the progress are visible.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as TusError from "../TusError.ts"
import type { Policy } from "./policy.ts"
import * as Window from "./window.ts"

const kibi = 1024

/** The size of the first slice, and the maximum size of the last slice, in bytes. */
const first = 256 * kibi

/** The minimum size of a slice in bytes, however often slices stall. */
const least = 16 * kibi

/** The size of the next slice, and the maximum size, in bytes. */
interface Size {
  readonly next: number
  readonly most: number
}

/** The state before the first slice. `chunkSize` limits the size of a slice, 8 MiB by default. */
const begin = (chunkSize: number = Window.defaultSize): Size => ({
  next: Math.min(first, chunkSize),
  most: chunkSize
})

/**
 * The number of remaining bytes that the next slice takes. The last slice is small: the server may take a long time to
 * store it, so a stall is detected late.
 */
const cut = ({ next }: Size, left: bigint): bigint => {
  const size = BigInt(next)
  const last = BigInt(Math.min(next, first))
  if (left <= last) return left
  if (left > size) return size
  const half = left / 2n
  return left - last > half ? left - last : half
}

/**
 * A slice that took less than this time is followed by a slice of twice the size.
 */
const isFast = (millis: number, policy: Policy): boolean =>
  millis <= Math.min(1000, Duration.toMillis(policy.stallTimeout) / 8)

/** The state after a slice with its size and its response time in milliseconds. */
const passed = (size: Size, slice: { readonly bytes: bigint; readonly millis: number }, policy: Policy): Size =>
  slice.bytes >= BigInt(size.next) && isFast(slice.millis, policy)
    ? { ...size, next: Math.min(size.most, size.next * 2) }
    : size

/** The state after a slice without a response in time. */
const stalled = ({ most, next }: Size): Size => ({
  most,
  next: Math.max(Math.min(least, most), Math.floor(next / 2))
})

/**
 * The maximum time of a slice. It is unknown when the last byte of a slice is sent, so the last slice also gets the
 * time in which the server may store the upload.
 */
export const limit = (policy: Policy, isLast: boolean): Duration.Duration =>
  isLast ? Duration.sum(policy.stallTimeout, policy.finishTimeout) : policy.stallTimeout

/** The size of the slices of one upload, or of one part of it, which adapts to the link. */
export class SliceSize {
  #size: Size
  constructor(chunkSize: number | undefined) {
    this.#size = begin(chunkSize)
  }

  /** The number of remaining bytes that the next slice takes. */
  next(left: bigint): bigint {
    return cut(this.#size, left)
  }

  /** Sends a slice, and adapts the size to its time. */
  from<A, E extends { readonly _tag: string }, R>(
    sent: Effect.Effect<A, E | TusError.Stalled, R>,
    bytes: bigint,
    policy: Policy
  ): Effect.Effect<A, E | TusError.Stalled, R> {
    return Clock.clockWith((clock) => {
      const begun = clock.currentTimeMillisUnsafe()
      return sent.pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            const millis = clock.currentTimeMillisUnsafe() - begun
            this.#size = passed(this.#size, { bytes, millis }, policy)
          })
        ),
        Effect.tapError(({ _tag }) =>
          Effect.sync(() => {
            if (_tag === "Stalled") this.#size = stalled(this.#size)
          })
        )
      )
    })
  }
}
