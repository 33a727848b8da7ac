/**
 * Determines the size of slices. A platform that cannot stream sends each slice as one request body. The progress
 * within a slice is unknown until its response arrives. So the size determines how soon progress or a stall is visible.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as TusError from "../TusError.ts"
import type { Policy } from "./policy.ts"
import * as Window from "./window.ts"

const kibi = 1024

/** The size of the first slice if `chunkSize` is not smaller, and the maximum size of the last slice, in bytes. */
const first = 256 * kibi

/** Slow and stalled slices never reduce the size below this number of bytes. */
const least = 16 * kibi

/** A slice that got a response: its size in bytes, and its duration in milliseconds. */
interface Passed {
  readonly bytes: number
  readonly millis: number
}

/**
 * - `next`: the size of the next slice in bytes.
 * - `most`: the maximum size of a slice in bytes.
 * - `last`: the most recent slice that got a response.
 * - `other`: the most recent slice before `last` that had a different size.
 */
interface Size {
  readonly next: number
  readonly most: number
  readonly last?: Passed | undefined
  readonly other?: Passed | undefined
}

/** The state before the first slice. `chunkSize` is the maximum size of a slice, 8 MiB by default. */
const begin = (chunkSize: number = Window.defaultSize): Size => ({
  next: Math.min(first, chunkSize),
  most: chunkSize
})

/**
 * The number of bytes in the next slice, when `left` bytes remain. The last slice is small, so that it is sent quickly.
 * A stall of the last slice is detected late, because its time limit includes the time that the server needs to store
 * the upload.
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
 * The intended duration of a slice in milliseconds. Progress is visible only after the response to a slice, and should
 * be visible every second. The intended duration is shorter than a second, because the link may become slower.
 */
const aim = (policy: Policy): number => Math.min(800, Duration.toMillis(policy.stallTimeout) / 8)

/**
 * Estimates the duration of a slice from its size. Two slices of different sizes show how long one byte takes. The
 * remaining duration of a slice is the round trip and the work of the server. With only one slice, these two parts of
 * the duration cannot be separated, so the duration of that slice is divided by its bytes.
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

/** Two durations count as equal if their ratio is at most this value. */
const alike = 1.25

/**
 * Halves the next size while a slice of this size takes too long and a slice of half this size is significantly faster.
 */
const shrunk = ({ most, next }: Size, millis: (bytes: number) => number, goal: number): number => {
  const half = Math.floor(next / 2)
  return half >= Math.min(least, most) && millis(next) > goal && millis(half) * alike < millis(next)
    ? shrunk({ most, next: half }, millis, goal)
    : next
}

/** The state after a slice that got a response. */
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
  // Slices of one size do not show how long the round trip takes. A smaller slice shows this, and is not slower.
  return other === undefined && last.millis <= goal ? { ...seen, next: Math.max(1, Math.floor(next / 2)) } : seen
}

/** The state after a slice that got no response in time. */
const stalled = ({ most, next, ...seen }: Size): Size => ({
  ...seen,
  most,
  next: Math.max(Math.min(least, most), Math.floor(next / 2))
})

/**
 * The time limit of a slice. The limit of the last slice includes the time that the server may take to store the upload
 * (`finishTimeout`), because the platform does not report when the last byte is sent.
 */
export const limit = (policy: Policy, isLast: boolean): Duration.Duration =>
  isLast ? Duration.sum(policy.stallTimeout, policy.finishTimeout) : policy.stallTimeout

/** The size of the slices of one upload or of one part. The size adapts to the speed of the link. */
export class SliceSize {
  #size: Size
  constructor(chunkSize: number | undefined) {
    this.#size = begin(chunkSize)
  }

  /** The number of bytes in the next slice, when `left` bytes remain. */
  next(left: bigint): bigint {
    return cut(this.#size, left)
  }

  /** Sends a slice, and adapts the next size to its duration. */
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
