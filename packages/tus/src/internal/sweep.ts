/**
 * Removes what has expired while other work goes on: a few names at a time, so that no write waits for a whole store.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** How often the names are listed. */
const every = Duration.toMillis("1 hour")

/** How many names one step checks. */
const atOnce = 16

/**
 * Makes a step. The first one, and one an hour later when all names are checked, lists the names; each step checks some
 * of them. A process may take one step only, so each listing starts at a random name. What cannot be listed or removed
 * now is removed later.
 */
export const make = <Name, E, R>(
  names: Effect.Effect<ReadonlyArray<Name>, E>,
  removeExpired: (name: Name) => Effect.Effect<void, E, R>
): Effect.Effect<void, never, R> => {
  let listedAt: number | undefined
  let all: ReadonlyArray<Name> = []
  /** The index of the next name, and how many are left from there on, around the end. */
  let next = 0
  let left = 0

  const list = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (listedAt !== undefined && listedAt + every > now) return
    listedAt = now
    all = yield* names
    left = all.length
    next = left === 0 ? 0 : yield* Random.nextIntBetween(0, left - 1)
  })

  return Effect.gen(function* () {
    if (left === 0) yield* Effect.ignore(list)
    const count = Math.min(left, atOnce)
    const some = [...all.slice(next, next + count), ...all.slice(0, Math.max(0, next + count - all.length))]
    next = (next + count) % Math.max(1, all.length)
    left -= count
    yield* Effect.forEach(some, (name) => Effect.ignore(removeExpired(name)), { discard: true })
  })
}
