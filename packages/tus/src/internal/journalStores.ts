/**
 * Where a journal may be kept besides files.
 */
import * as Effect from "effect/Effect"
import type * as KeyValueStore from "effect/persistence/KeyValueStore"
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

/** Texts in a KeyValueStore. */
export const fromKeyValueStore = (
  store: KeyValueStore.KeyValueStore,
  fail: (action: JournalFailed["action"], problem: string) => JournalFailed
): Store => {
  const failed = (action: JournalFailed["action"]) => (error: KeyValueStore.KeyValueStoreError) =>
    fail(action, error.message)
  const get = (key: string) => Effect.mapError(store.get(key), failed("read"))
  const set = (key: string, text: string) => Effect.mapError(store.set(key, text), failed("write"))
  return {
    get,
    set,
    remove: (key) => Effect.mapError(store.remove(key), failed("remove")),
    keys: Effect.mapError(store.keys, failed("list")),
    // A KeyValueStore has no compare-and-set: what was written is read again, so that of two only the last stays.
    claim: (key, text, mayReplace) =>
      Effect.gen(function* () {
        const existing = yield* get(key)
        if (existing !== undefined && !mayReplace(existing)) return false
        yield* set(key, text)
        return (yield* get(key)) === text
      })
  }
}
