/**
 * Entries of one kind in the store of a journal.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import {
  type Entries,
  isKey,
  JournalFailed,
  JournalTorn,
  type Key,
  type Lease,
  type Store,
  type UploadLeased,
  validKey
} from "./journal.ts"

/** Every entry contains the time when it was written, in milliseconds since 1970. */
interface Dated {
  readonly writtenAt: number
}

/**
 * - `codec`: the text of an entry.
 * - `isOwn`: whether a key belongs to an entry of this kind.
 * - `lifetime`: how long an entry is valid after its write, in milliseconds.
 */
export interface Kind<Entry extends Dated> {
  readonly codec: Schema.Codec<Entry, string>
  readonly isOwn: (key: string) => boolean
  readonly lifetime: (entry: Entry) => number
}

/** The entries of one kind. `removeIfExpired` removes an entry if it has expired and no process holds its lease. */
export interface Swept<Entry> {
  readonly entries: Entries<Entry>
  readonly removeIfExpired: (key: Key) => Effect.Effect<void, JournalFailed>
}

/** The entries of one kind. `onPut` runs after each write. */
export const make = <Entry extends Dated>(
  store: Store,
  lease: (key: Key) => Effect.Effect<Lease, JournalFailed | UploadLeased, Scope.Scope>,
  { codec, isOwn, lifetime }: Kind<Entry>,
  onPut: Effect.Effect<void>
): Swept<Entry> => {
  const decode = Schema.decodeEffect(codec)
  const encode = Schema.encodeEffect(codec)

  const read = (key: Key): Effect.Effect<Option.Option<Entry>, JournalFailed | JournalTorn> =>
    Effect.flatMap(store.get(key), (text) =>
      text === undefined
        ? Effect.succeedNone
        : decode(text).pipe(
            Effect.asSome,
            // The issue of the schema is omitted, because the text may contain secret URLs.
            Effect.mapError(
              () => new JournalTorn({ key, description: `the ${text.length} characters cannot be decoded` })
            )
          )
    )

  const readIfWhole = (key: Key) => Effect.catchTag(read(key), "JournalTorn", () => Effect.succeedNone)

  const hasExpired = (entry: Entry) =>
    Effect.map(Clock.currentTimeMillis, (now) => entry.writtenAt + lifetime(entry) <= now)

  const isExpired = (key: Key) =>
    Effect.flatMap(readIfWhole(key), (found) =>
      Option.isNone(found) ? Effect.succeed(false) : hasExpired(found.value)
    )

  const removeIfExpired = (key: Key) =>
    Effect.gen(function* () {
      // If the entry is still valid, its lease is not acquired.
      if (!(yield* isExpired(key))) return
      yield* lease(key)
      if (yield* isExpired(key)) yield* store.remove(key)
    }).pipe(
      Effect.scoped,
      Effect.catchTag("UploadLeased", () => Effect.void)
    )

  const entries: Entries<Entry> = {
    get: (text) =>
      Effect.gen(function* () {
        const found = yield* read(yield* validKey(text))
        return Option.isSome(found) && (yield* hasExpired(found.value)) ? Option.none() : found
      }),
    put: (text, entry) =>
      Effect.gen(function* () {
        const key = yield* validKey(text)
        const encoded = yield* Effect.mapError(
          encode(entry),
          () => new JournalFailed({ action: "write", description: "the new entry is invalid" })
        )
        yield* store.set(key, encoded)
        yield* onPut
      }),
    forget: (text) => Effect.flatMap(validKey(text), store.remove),
    list: Effect.gen(function* () {
      const found: Array<{ readonly key: string; readonly entry: Entry }> = []
      for (const key of (yield* store.keys).filter(isKey)) {
        if (!isOwn(key)) continue
        const entry = yield* readIfWhole(key)
        if (Option.isNone(entry)) continue
        if (yield* hasExpired(entry.value)) yield* Effect.ignore(removeIfExpired(key))
        else found.push({ key, entry: entry.value })
      }
      return found
    })
  }
  return { entries, removeIfExpired }
}

/** The minimum time between two listings of the removals, in milliseconds. */
const every = Duration.toMillis("1 hour")

/** The maximum number of removals in one step, so that no write has to wait until the whole store is checked. */
const atOnce = 16

/**
 * One step of the removal of what has expired. `list` returns the removals that a store needs now, and runs at most once
 * an hour. Some processes end after one step, so the first removal after each listing is a random one. A failure is
 * ignored, because a later step tries again.
 */
export const sweeping = <E>(list: Effect.Effect<ReadonlyArray<Effect.Effect<void, E>>, E>): Effect.Effect<void> => {
  let listedAt = -Infinity
  let left: ReadonlyArray<Effect.Effect<void, E>> = []
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (left.length === 0 && listedAt + every <= now) {
      listedAt = now
      const all = yield* Effect.orElseSucceed(list, () => [])
      const first = all.length === 0 ? 0 : yield* Random.nextIntBetween(0, all.length - 1)
      left = [...all.slice(first), ...all.slice(0, first)]
    }
    const some = left.slice(0, atOnce)
    left = left.slice(atOnce)
    yield* Effect.forEach(some, (remove) => Effect.ignore(remove), { discard: true })
  })
}
