/**
 * The storage of a journal: one interface for files, memory and key-value stores.
 */
import type * as Effect from "effect/Effect"
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

/** The storage of entries and leases as texts. A small interface on which the whole journal is built. */
export interface Store {
  readonly get: (key: JournalKey) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: JournalKey, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: JournalKey) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  readonly leases: Leases
}
