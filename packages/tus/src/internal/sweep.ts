/**
 * Removes expired entries of a store in small steps. `UploadJournal` performs one step after each write. Each step
 * checks a few entries, so that no write has to wait until the whole store is checked.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** The minimum time between two listings of the names, in milliseconds. */
const every = Duration.toMillis("1 hour")

/** The maximum number of names that one step checks. */
const atOnce = 16

/**
 * Makes a step, which checks some of the listed names. If all listed names are checked, the step first lists the names
 * again, but at most once an hour. Some processes end after one step, so the checks after each listing start at a
 * random name. A failure to list or to remove is ignored, because a later step tries again.
 */
export const make = <Name, E, R>(
  names: Effect.Effect<ReadonlyArray<Name>, E>,
  removeExpired: (name: Name) => Effect.Effect<void, E, R>
): Effect.Effect<void, never, R> => {
  let listedAt: number | undefined
  let all: ReadonlyArray<Name> = []
  /** `next` is the index of the next name to check, and `left` is the number of unchecked names. */
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
