/**
 * The storage of a journal: one interface for files, memory and key-value stores.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { JournalFailed } from "./journalError.ts"
import type { JournalKey } from "./journalKey.ts"

/**
 * The leases of a store, as texts. `swap` is a compare-and-set: it replaces the text `expected` (undefined for no text)
 * and returns whether it did. If the store permits, the comparison and the replacement are atomic.
 */
export interface Leases {
  readonly get: (key: JournalKey) => Effect.Effect<string | undefined, JournalFailed>
  readonly swap: (key: JournalKey, expected: string | undefined, text: string) => Effect.Effect<boolean, JournalFailed>
  readonly remove: (key: JournalKey) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
}

/**
 * The locks of a platform that releases them when their holder ends, such as Web Locks. `lock` holds the lock of a key
 * until its scope ends, or returns undefined if another holder has it. `lost` completes with the reason when the lock is
 * lost, and never otherwise.
 */
export interface Locks {
  readonly lock: (
    key: JournalKey
  ) => Effect.Effect<{ readonly lost: Effect.Effect<string> } | undefined, JournalFailed, Scope.Scope>
}

/**
 * The storage of entries as texts, and the leases or locks that hold their keys. A small interface on which the whole
 * journal is built.
 */
export interface Store {
  readonly get: (key: JournalKey) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: JournalKey, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: JournalKey) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  readonly leases: Leases | Locks
}
