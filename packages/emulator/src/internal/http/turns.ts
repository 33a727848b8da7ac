/**
 * Limits the long work in one round of the event loop, so that other clients get their responses between two rounds. A
 * process has one event loop, so all emulators of a process share its rounds.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

const turn = Semaphore.makeUnsafe(1)

/** Waits for a turn, then runs the work. A turn starts after the previous turn, in a new round. */
export const take = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  turn.withPermit(Effect.andThen(Effect.yieldNow, work))

/** The time budget of `share` in one round of the event loop, in nanoseconds. */
const budget = 10_000_000n

let spent = 0n

const spend = (nanos: bigint) => {
  if (spent === 0n) setImmediate(() => (spent = 0n))
  spent += nanos + 1n
}

const counted = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.currentTimeNanos, (start) =>
    Effect.ensuring(
      work,
      Effect.map(Clock.currentTimeNanos, (end) => spend(end - start))
    )
  )

/**
 * Runs work that is usually short. The work waits for a turn only if `share` has used up the time budget of the current
 * round.
 */
export const share = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => (spent < budget ? counted(work) : take(counted(work))))

/** The number of items in one slice. An item such as a file takes about 40 microseconds of processor time. */
const size = 200

/** Maps a list in slices. Each slice is one piece of work for `share`, so that other requests can run in between. */
export const mapSlices = Effect.fnUntraced(function* <A, B, E, R>(
  items: ReadonlyArray<A>,
  convert: (slice: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
) {
  const converted: Array<B> = []
  for (let start = 0; start < items.length; start += size) {
    converted.push(...(yield* share(convert(items.slice(start, start + size)))))
  }
  return converted
})

/** Like {@link mapSlices}, with a pure function that converts one item. */
export const map = <A, B>(items: ReadonlyArray<A>, convert: (item: A) => B) =>
  mapSlices(items, (slice) => Effect.sync(() => slice.map((item) => convert(item))))

/** Like {@link map}, for a record of lists. */
export const mapRecord = Effect.fnUntraced(function* <A, B>(
  lists: Readonly<Record<string, ReadonlyArray<A>>>,
  convert: (item: A) => B
) {
  const flat = Object.entries(lists).flatMap(([name, items]) => items.map((item) => [name, item] as const))
  const converted = yield* map(flat, ([name, item]) => [name, convert(item)] as const)
  const made = new Map<string, Array<B>>(Object.keys(lists).map((name) => [name, []]))
  for (const [name, item] of converted) made.get(name)?.push(item)
  return Object.fromEntries<ReadonlyArray<B>>(made)
})
