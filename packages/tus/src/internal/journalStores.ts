/**
 * Where a journal may be kept besides files.
 */
import * as Effect from "effect/Effect"
import type * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Semaphore from "effect/Semaphore"
import type { JournalFailed, Store } from "../UploadJournal.ts"

/** Texts in memory. */
export const memory = (): Store => {
  const texts = new Map<string, string>()
  return {
    get: (key) => Effect.sync(() => texts.get(key)),
    set: (key, text) => Effect.sync(() => void texts.set(key, text)),
    remove: (key) => Effect.sync(() => void texts.delete(key)),
    keys: Effect.sync(() => [...texts.keys()]),
    claim: (key, text, mayReplace) =>
      Effect.sync(() => {
        const existing = texts.get(key)
        if (existing !== undefined && !mayReplace(existing)) return false
        texts.set(key, text)
        return true
      })
  }
}

/**
 * Texts in a KeyValueStore. It has no way to set what is not there yet, so that two processes may both do that: the last
 * one is seen by both only if it came before the other looked. What is there is replaced by `modify`, as atomically as
 * the store does that. In this process one claim follows the other.
 */
export const fromKeyValueStore = (
  store: KeyValueStore.KeyValueStore,
  fail: (action: JournalFailed["action"], problem: string) => JournalFailed
): Store => {
  const failed = (action: JournalFailed["action"]) => (error: KeyValueStore.KeyValueStoreError) =>
    fail(action, error.message)
  const claiming = Semaphore.makeUnsafe(1)
  const get = (key: string) => Effect.mapError(store.get(key), failed("read"))
  const set = (key: string, text: string) => Effect.mapError(store.set(key, text), failed("write"))
  return {
    get,
    set,
    remove: (key) => Effect.mapError(store.remove(key), failed("remove")),
    keys: Effect.mapError(store.keys, failed("list")),
    claim: (key, text, mayReplace) =>
      Effect.gen(function* () {
        const existing = yield* get(key)
        if (existing === undefined) {
          yield* set(key, text)
          return (yield* get(key)) === text
        }
        // What is held is not written, not even as it is: its holder may be letting it go.
        if (!mayReplace(existing)) return false
        const replaced = yield* Effect.mapError(
          store.modify(key, (now) => (mayReplace(now) ? text : now)),
          failed("lease")
        )
        return replaced === text
      }).pipe(claiming.withPermits(1))
  }
}
