/**
 * The stores for the texts of a journal: in memory, and in a key-value store.
 */
import * as Effect from "effect/Effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Semaphore from "effect/Semaphore"
import { JournalFailed } from "./journalError.ts"
import type { Leases, Store } from "./journal.ts"

/** A store of texts in memory. */
export const memory = (): Store => {
  const textsIn = (texts: Map<string, string>) => ({
    get: (key: string) => Effect.sync(() => texts.get(key)),
    remove: (key: string) => Effect.sync(() => void texts.delete(key)),
    keys: Effect.sync(() => [...texts.keys()])
  })
  const entries = new Map<string, string>()
  const leases = new Map<string, string>()
  return {
    ...textsIn(entries),
    set: (key, text) => Effect.sync(() => void entries.set(key, text)),
    leases: {
      ...textsIn(leases),
      swap: (key, expected, text) =>
        Effect.sync(() => {
          if (leases.get(key) !== expected) return false
          leases.set(key, text)
          return true
        })
    }
  }
}

const leasePrefix = "lease-"

/**
 * A store of texts in a KeyValueStore. A KeyValueStore has no atomic set-if-absent, so two processes may both create
 * the first lease of a key. Then the process whose lease was overwritten fails when it renews its lease. A later change
 * uses `modify`, and is atomic if `modify` is atomic. Changes of this process run one after another.
 */
export const fromKeyValueStore = (store: KeyValueStore.KeyValueStore): Store => {
  const failed = (action: JournalFailed["action"]) => (error: KeyValueStore.KeyValueStoreError) =>
    new JournalFailed({ action, description: error.message })
  const textsIn = (texts: KeyValueStore.KeyValueStore) => ({
    get: (key: string) => Effect.mapError(texts.get(key), failed("read")),
    remove: (key: string) => Effect.mapError(texts.remove(key), failed("remove")),
    keys: Effect.mapError(texts.keys, failed("list"))
  })
  const leases = KeyValueStore.prefix(store, leasePrefix)
  const changing = Semaphore.makeUnsafe(1)
  const swap: Leases["swap"] = (key, expected, text) =>
    Effect.gen(function* () {
      // If the stored text is not `expected`, nothing is written, because the holder of the lease may be changing the
      // text.
      if ((yield* leases.get(key)) !== expected) return false
      yield* expected === undefined
        ? leases.set(key, text)
        : leases.modify(key, (now) => (now === expected ? text : now))
      return (yield* leases.get(key)) === text
    }).pipe(changing.withPermits(1), Effect.mapError(failed("lease")))
  const entries = textsIn(store)
  return {
    ...entries,
    keys: Effect.map(entries.keys, (keys) => keys.filter((key) => !key.startsWith(leasePrefix))),
    set: (key, text) => Effect.mapError(store.set(key, text), failed("write")),
    leases: { ...textsIn(leases), swap }
  }
}
