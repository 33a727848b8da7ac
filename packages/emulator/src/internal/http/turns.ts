import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

/**
 * Limits the long work in one round of the event loop, so that other clients get their responses between two rounds.
 * All routes share one instance, because otherwise every route could use the whole limit in the same round.
 */
export class Turns extends Context.Service<
  Turns,
  {
    /** Waits for a turn, then runs the work. A turn starts after the previous turn, in a new round. */
    readonly take: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * Runs work that is usually short. The work waits for a turn only if `share` has used up the time budget of the
     * current round.
     */
    readonly share: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@assembly-effect/emulator/Turns") {}

/** The time budget of `share` in one round of the event loop, in nanoseconds. */
const budget = 10_000_000n

const make = Effect.gen(function* () {
  const turn = yield* Semaphore.make(1)
  let spent = 0n

  const take = <A, E, R>(work: Effect.Effect<A, E, R>) => turn.withPermits(1)(Effect.andThen(Effect.yieldNow, work))

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

  return Turns.of({
    take,
    share: (work) => Effect.suspend(() => (spent < budget ? counted(work) : take(counted(work))))
  })
})

export const layer = Layer.effect(Turns, make)

/** The number of items in one slice. An item such as a file takes about 40 microseconds of processor time. */
const size = 200

/** Maps a list in slices. Each slice is one piece of work for `Turns`, so that other requests can run in between. */
export const mapSlices = Effect.fnUntraced(function* <A, B, E, R>(
  turns: Turns["Service"],
  items: ReadonlyArray<A>,
  convert: (slice: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
) {
  const converted: Array<B> = []
  for (let start = 0; start < items.length; start += size) {
    converted.push(...(yield* turns.share(convert(items.slice(start, start + size)))))
  }
  return converted
})

/** Like {@link mapSlices}, with a pure function that converts one item. */
export const map = <A, B>(turns: Turns["Service"], items: ReadonlyArray<A>, convert: (item: A) => B) =>
  mapSlices(turns, items, (slice) => Effect.sync(() => slice.map((item) => convert(item))))

/** Like {@link map}, for a record of lists. */
export const mapRecord = Effect.fnUntraced(function* <A, B>(
  turns: Turns["Service"],
  lists: Readonly<Record<string, ReadonlyArray<A>>>,
  convert: (item: A) => B
) {
  const flat = Object.entries(lists).flatMap(([name, items]) => items.map((item) => [name, item] as const))
  const converted = yield* map(turns, flat, ([name, item]) => [name, convert(item)] as const)
  const made = new Map<string, Array<B>>(Object.keys(lists).map((name) => [name, []]))
  for (const [name, item] of converted) made.get(name)?.push(item)
  return Object.fromEntries<ReadonlyArray<B>>(made)
})
