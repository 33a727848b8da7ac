/**
 * How large the bodies are that a platform sends as a whole. Nothing is seen of such a slice until it is answered, so
 * that its size is what makes a stall and the progress show.
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

/** However often slices stall, they are at least so large, in bytes. */
const least = 16 * kibi

/** The size of the next slice, and the most that one may have, in bytes. */
interface Size {
  readonly next: number
  readonly most: number
}

/** Before the first slice. A `chunkSize` is the most that one has; 8 MiB without it. */
const begin = (chunkSize: number = Window.defaultSize): Size => ({
  next: Math.min(first, chunkSize),
  most: chunkSize
})

/**
 * How many of the bytes that are left the next slice takes. The last one is small: the server may take its time for it,
 * so that a stall shows late there.
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
 * Twice the size is as fast as this, whatever the link: a slice that passed in this time is followed by a larger one.
 */
const isFast = (millis: number, policy: Policy): boolean =>
  millis <= Math.min(1000, Duration.toMillis(policy.stallTimeout) / 8)

/** After a slice of so many bytes that was answered after so many milliseconds. */
const passed = (size: Size, slice: { readonly bytes: bigint; readonly millis: number }, policy: Policy): Size =>
  slice.bytes >= BigInt(size.next) && isFast(slice.millis, policy)
    ? { ...size, next: Math.min(size.most, size.next * 2) }
    : size

/** After a slice that was not answered in time. */
const stalled = ({ most, next }: Size): Size => ({
  most,
  next: Math.max(Math.min(least, most), Math.floor(next / 2))
})

/**
 * How long a slice may take. When its last byte leaves is not known, so for the last one the server has the time that
 * it
 * may take to store the upload on top.
 */
export const limit = (policy: Policy, isLast: boolean): Duration.Duration =>
  isLast ? Duration.sum(policy.stallTimeout, policy.finishTimeout) : policy.stallTimeout

/** The size of the slices of one upload, or of one part of it, which adapts to the link. */
export class SliceSize {
  #size: Size
  constructor(chunkSize: number | undefined) {
    this.#size = begin(chunkSize)
  }

  /** How many of the bytes that are left the next slice takes. */
  next(left: bigint): bigint {
    return cut(this.#size, left)
  }

  /** Learns from a slice of so many bytes on its way. */
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
