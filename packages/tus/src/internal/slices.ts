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

/** A slice that was answered: its size in bytes, and the milliseconds it took. */
interface Passed {
  readonly bytes: number
  readonly millis: number
}

/**
 * The size of the next slice, and the most that one may have, in bytes. `last` passed last, `other` is the last before it
 * that had another size.
 */
interface Size {
  readonly next: number
  readonly most: number
  readonly last?: Passed | undefined
  readonly other?: Passed | undefined
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
 * How long a slice should take, in milliseconds: progress shows when it is answered, and is to move every second. The
 * rest is for a link that becomes slower.
 */
const aim = (policy: Policy): number => Math.min(800, Duration.toMillis(policy.stallTimeout) / 8)

/**
 * How long a slice of another size will take. Of two that passed, their difference tells what a byte takes; the rest is
 * the way there and back, and the server. Of one, all of it is taken for the bytes.
 */
const forecast = (last: Passed, other: Passed | undefined) => {
  const whole = last.millis / last.bytes
  const perByte =
    other === undefined
      ? whole
      : Math.min(whole, Math.max(0, (last.millis - other.millis) / (last.bytes - other.bytes)))
  return (bytes: number): number =>
    bytes < last.bytes
      ? last.millis - perByte * (last.bytes - bytes)
      : Math.min(whole * bytes, last.millis + perByte * (bytes - last.bytes))
}

/** A slice that takes so much longer, or less, takes as long. */
const alike = 1.25

/** The next size after a slice that took too long, where a smaller one takes less. */
const shrunk = ({ most, next }: Size, millis: (bytes: number) => number, goal: number): number => {
  const half = Math.floor(next / 2)
  return half >= Math.min(least, most) && millis(next) > goal && millis(half) * alike < millis(next)
    ? shrunk({ most, next: half }, millis, goal)
    : next
}

/** After a slice that was answered. */
const passed = (size: Size, last: Passed, policy: Policy): Size => {
  if (last.bytes === 0) return size
  const other = last.bytes === size.last?.bytes ? size.other : size.last
  const goal = aim(policy)
  const millis = forecast(last, other)
  const seen = { ...size, last, other }
  const next = shrunk(size, millis, goal)
  if (next < size.next || last.bytes < size.next || next === size.most) return { ...seen, next }
  if (millis(next * 2) <= Math.max(goal, last.millis * alike)) {
    return { ...seen, next: Math.min(size.most, next * 2) }
  }
  // One size alone does not tell what the way there and back takes. A smaller slice finds it out within the goal.
  return other === undefined && last.millis <= goal ? { ...seen, next: Math.max(1, Math.floor(next / 2)) } : seen
}

/** After a slice that was not answered in time. */
const stalled = ({ most, next, ...seen }: Size): Size => ({
  ...seen,
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
            this.#size = passed(this.#size, { bytes: Number(bytes), millis }, policy)
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
