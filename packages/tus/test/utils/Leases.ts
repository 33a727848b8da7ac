/**
 * Stores of leases that fail or respond late, as a test requires.
 */
import { JournalFailed, LeaseLost } from "@assembly-effect/tus/UploadJournal"
import type { UploadJournal } from "@assembly-effect/tus"
import { Effect, Random } from "effect"

const texts = () => {
  const map = new Map<string, string>()
  return {
    map,
    get: (key: string) => Effect.sync(() => map.get(key)),
    set: (key: string, text: string) => Effect.sync(() => void map.set(key, text)),
    remove: (key: string) => Effect.sync(() => void map.delete(key)),
    keys: Effect.sync(() => [...map.keys()])
  }
}

/** A store whose leases are texts that run out. */
export type Timed = UploadJournal.Store & { readonly leases: UploadJournal.Leases }

/** A store in memory whose leases a test can read and change. */
export const makeStore = () => {
  const leases = texts()
  const store: Timed = {
    ...texts(),
    leases: {
      ...leases,
      swap: (key, expected, text) =>
        Effect.sync(() => {
          if (leases.map.get(key) !== expected) return false
          leases.map.set(key, text)
          return true
        })
    }
  }
  return { store, leases: leases.map }
}

/** How the next changes of a lease fail: before they happen, after they happened, or without a response. */
type Failing = "before" | "after" | "never" | undefined

/** The access of one process to the shared store. It fails as `failing` says. */
export interface Way {
  failing: Failing
}

/** A change by this process. */
export const along = <A, E, R>(way: Way, failure: E, change: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const ways = {
      before: Effect.fail(failure),
      after: Effect.andThen(change, Effect.fail(failure)),
      never: Effect.never
    }
    return way.failing === undefined ? change : ways[way.failing]
  })

/** A store for this process. */
export const reach = (way: Way, store: Timed): Timed => {
  const failure = new JournalFailed({ action: "lease", description: "the store is away" })
  return around(store, (change, name) => (name === "swap" ? along(way, failure, change) : change))
}

/** A journal whose leases another process has taken as soon as `isTaken`. Nothing has told their holder yet. */
export const taken = (journal: UploadJournal.UploadJournal["Service"], isTaken: () => boolean) => ({
  ...journal,
  lease: (key: string) =>
    Effect.map(journal.lease(key), ({ check }) => ({
      lost: Effect.never,
      check: Effect.suspend(() =>
        isTaken() ? Effect.fail(new LeaseLost({ key, description: "another process has it" })) : check
      )
    }))
})

/** Runs the effect after a random number of turns of other fibers. */
export const later = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Random.nextIntBetween(1, 20), (turns) =>
    Effect.andThen(Effect.repeat(Effect.yieldNow, { times: turns }), effect)
  )

type Operation = Effect.Effect<unknown, unknown>

/** An object whose operations, and those of the objects in it, are changed. */
export const around = <T extends object>(
  real: T,
  change: (operation: Operation, name: PropertyKey) => Operation
): T => {
  const seen = (name: PropertyKey, value: unknown): unknown => {
    if (Effect.isEffect(value)) return change(value as Operation, name)
    if (typeof value === "function") return (...args: ReadonlyArray<unknown>) => seen(name, value.apply(real, args))
    return typeof value === "object" && value !== null ? around(value, change) : value
  }
  return new Proxy(real, { get: (_, name) => seen(name, Reflect.get(real, name, real)) })
}
