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

/** A slice with a response: its size in bytes, and its time in milliseconds. */
interface Passed {
  readonly bytes: number
  readonly millis: number
}

/**
 * The size of the next slice, and the maximum size of a slice, in bytes. `last` is the last slice with a response.
 * `other` is the last one before it that had a different size.
 */
interface Size {
  readonly next: number
  readonly most: number
  readonly last?: Passed | undefined
  readonly other?: Passed | undefined
}

/** The state before the first slice. `chunkSize` limits the size of a slice, 8 MiB by default. */
const begin = (chunkSize: number = Window.defaultSize): Size => ({
  next: Math.min(first, chunkSize),
  most: chunkSize
})

/**
 * The number of remaining bytes that the next slice takes. The last slice is small, so that its bytes arrive soon: a
 * stall in it is detected late, because the server may also need time to store the upload.
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
 * The intended time of a slice, in milliseconds. The progress is visible only after the response of a slice, and should
 * move every second. The intended time is shorter than that, because the link may become slower.
 */
const aim = (policy: Policy): number => Math.min(800, Duration.toMillis(policy.stallTimeout) / 8)

/**
 * Estimates the time of a slice of another size. The difference between two slices shows the time of a byte; the rest
 * is the time of the round trip and of the server. After only one slice the two cannot be separated: the time of a byte
 * is then the time of the slice divided by its bytes.
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

/** Two times whose ratio is below this value count as equal. */
const alike = 1.25

/** The next size after a slice that took too long, if a smaller slice takes less time. */
const shrunk = ({ most, next }: Size, millis: (bytes: number) => number, goal: number): number => {
  const half = Math.floor(next / 2)
  return half >= Math.min(least, most) && millis(next) > goal && millis(half) * alike < millis(next)
    ? shrunk({ most, next: half }, millis, goal)
    : next
}

/** The state after a slice with a response. */
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
  // Slices of one size do not show the time of the round trip. A smaller slice shows it, and takes less time.
  return other === undefined && last.millis <= goal ? { ...seen, next: Math.max(1, Math.floor(next / 2)) } : seen
}

/** The state after a slice that got no response in time. */
const stalled = ({ most, next, ...seen }: Size): Size => ({
  ...seen,
  most,
  next: Math.max(Math.min(least, most), Math.floor(next / 2))
})

/**
 * The maximum time of a slice. The time when its last byte is sent is unknown, so the last slice also gets the time
 * that the server may take to store the upload.
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

  /** Sends a slice, and adapts the size to the time that it took. */
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
