/**
 * Entries of one kind in the store of a journal.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { JournalFailed, JournalTorn, type UploadLeased } from "./journalError.ts"
import type { Entries, Key, Lease, Store } from "./journal.ts"
import * as JournalKey from "./journalKey.ts"

/** Every entry contains the time when it was written, in milliseconds since 1970. */
interface Dated {
  readonly writtenAt: number
}

/**
 * - `isKey`: whether a key belongs to an entry of this kind.
 * - `isExpired`: whether an entry has expired at the time `now`, in milliseconds since 1970.
 */
export interface Kind<Entry extends Dated> {
  readonly encode: (entry: Entry) => Effect.Effect<string, Schema.SchemaError>
  readonly decode: (text: string) => Effect.Effect<Entry, Schema.SchemaError>
  readonly isKey: (key: string) => boolean
  readonly isExpired: (entry: Entry, now: number) => boolean
}

/** The entries of one kind. `removeIfExpired` removes an entry if it has expired. */
export interface Swept<Entry> {
  readonly entries: Entries<Entry>
  readonly removeIfExpired: (key: Key) => Effect.Effect<void, JournalFailed>
}

/** The entries of one kind. `onPut` runs after each write. */
export const make = <Entry extends Dated>(
  store: Store,
  lease: (key: Key) => Effect.Effect<Lease, JournalFailed | UploadLeased, Scope.Scope>,
  { decode, encode, isExpired, isKey }: Kind<Entry>,
  onPut: Effect.Effect<void>
): Swept<Entry> => {
  const read = (key: Key) =>
    Effect.flatMap(store.get(key), (text) =>
      text === undefined
        ? Effect.succeed(Option.none<Entry>())
        : decode(text).pipe(
            Effect.map(Option.some),
            // The issue of the schema is omitted, because the text may contain secret URLs.
            Effect.mapError(
              () => new JournalTorn({ key, description: `the ${text.length} characters cannot be decoded` })
            )
          )
    )

  const readIfWhole = (key: Key) =>
    Effect.catchTag(read(key), "JournalTorn", () => Effect.succeed(Option.none<Entry>()))

  /** Removes an expired entry, unless another process holds its lease. */
  const removeExpired = (key: Key, now: number) =>
    Effect.gen(function* () {
      yield* lease(key)
      if (Option.exists(yield* readIfWhole(key), (entry) => isExpired(entry, now))) yield* store.remove(key)
    }).pipe(
      Effect.scoped,
      Effect.catchTag("UploadLeased", () => Effect.void)
    )

  const entries: Entries<Entry> = {
    get: (text) =>
      Effect.gen(function* () {
        const key = yield* JournalKey.check(text)
        const now = yield* Clock.currentTimeMillis
        return Option.filter(yield* read(key), (entry) => !isExpired(entry, now))
      }),
    put: (text, entry) =>
      Effect.gen(function* () {
        const key = yield* JournalKey.check(text)
        const encoded = yield* Effect.mapError(
          encode(entry),
          () => new JournalFailed({ action: "write", description: "the new entry is invalid" })
        )
        yield* store.set(key, encoded)
        yield* onPut
      }),
    forget: (text) => Effect.flatMap(JournalKey.check(text), store.remove),
    list: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const found: Array<{ readonly key: string; readonly entry: Entry }> = []
      for (const key of (yield* store.keys).filter(JournalKey.isKey)) {
        if (!isKey(key)) continue
        const entry = yield* readIfWhole(key)
        if (Option.isNone(entry)) continue
        if (isExpired(entry.value, now)) yield* Effect.ignore(removeExpired(key, now))
        else found.push({ key, entry: entry.value })
      }
      return found
    })
  }

  return {
    entries,
    removeIfExpired: (key) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        // If the entry is still valid, its lease is not acquired.
        if (Option.exists(yield* readIfWhole(key), (entry) => isExpired(entry, now))) yield* removeExpired(key, now)
      })
  }
}
