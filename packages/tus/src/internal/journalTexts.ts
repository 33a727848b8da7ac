/**
 * Where a journal is kept: the one interface of files, memory and key-value stores.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { JournalFailed } from "./journalError.ts"
import type { JournalKey } from "./journalKey.ts"

/**
 * The leases of a store, as texts. `swap` is a compare-and-set: it replaces the text `expected`, or undefined for none,
 * and answers whether it did. Where the store can, the comparison and the replacement are atomic.
 */
export interface Leases {
  readonly get: (key: JournalKey) => Effect.Effect<string | undefined, JournalFailed>
  readonly swap: (key: JournalKey, expected: string | undefined, text: string) => Effect.Effect<boolean, JournalFailed>
  readonly remove: (key: JournalKey) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
}

/**
 * The locks of a platform that releases them when their holder ends, such as Web Locks. `lock` holds the lock of a key
 * until its scope ends, or answers undefined where another holder has it. `lost` answers why the lock was lost, and never
 * ends otherwise.
 */
export interface Locks {
  readonly lock: (
    key: JournalKey
  ) => Effect.Effect<{ readonly lost: Effect.Effect<string> } | undefined, JournalFailed, Scope.Scope>
}

/**
 * Where entries are kept, as texts, and what holds their keys: leases, or locks. A small core: everything else is made of
 * it.
 */
export interface Store {
  readonly get: (key: JournalKey) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: JournalKey, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: JournalKey) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  readonly leases: Leases | Locks
}
