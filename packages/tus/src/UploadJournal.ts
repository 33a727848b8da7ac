/**
 * The journal of uploads that survive a crash. The journal has one entry for each upload, and one for each job of
 * `AssemblyUpload`. The entry of an upload is written before each creation request, before the first PATCH,
 * and when all bytes are stored or become untrusted. The entry of an upload contains capabilities (URLs that grant
 * access), so store the journal as a secret.
 */
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Journal from "./internal/journal.ts"
import { JournalFailed, JournalTorn } from "./internal/journalError.ts"
import * as Journaled from "./internal/journaled.ts"
import * as JournalEntry from "./internal/journalEntry.ts"
import * as Files from "./internal/journalFiles.ts"
import * as Leasing from "./internal/lease.ts"

export type { AssemblyEntry, Engine, Entries, Entry, Key, Lease, Leases, Locks, Store } from "./internal/journal.ts"
export { assemblyKeyOf, keyOf, UploadJournal } from "./internal/journal.ts"
export type { JournalError } from "./internal/journalError.ts"
export { JournalFailed, JournalTorn, LeaseLost, NoSuchUpload, UploadLeased } from "./internal/journalError.ts"

const Settings = Schema.Struct({
  expiry: Schema.optional(Rules.duration),
  completedExpiry: Schema.optional(Rules.expiry),
  leaseDuration: Schema.optional(Rules.duration)
})

/**
 * - `expiry`: how long an entry is valid after its last write, 24 hours by default, because servers remove unfinished
 *   uploads. An `Untrusted` entry never expires. `list` removes expired entries. Each `put` checks at most 16 other
 *   entries and leases. Of these, `put` removes the entries that have expired, and the leases whose own expiry is at
 *   least `expiry` in the past. For these checks, a journal lists the names of its entries and leases at most once an
 *   hour.
 * - `completedExpiry`: how long the entry of a completed job is valid after its last write, 60 days by default. After
 *   this time, the next run of the same job starts a new Assembly and uploads the files again. With `"Infinity"`, the
 *   entry of a completed job never expires.
 * - `leaseDuration`: how long a lease stays valid after its last renewal, 10 seconds by default. A running holder
 *   renews its lease after a third of this time. If a store has locks, `leaseDuration` is how long another process
 *   waits for a lock, but at most a minute.
 *
 * Each duration is above zero and at most 100 years, except `"Infinity"` for `completedExpiry`: an entry that expires at
 * once would let a second Assembly be created. Else the Layer or `make` fails with `InvalidRequest`.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("UploadJournal", Settings)

/**
 * Makes a journal on a store.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  store: Journal.Store,
  options: Options = {}
): Effect.Effect<Journal.UploadJournal["Service"], InvalidRequest> =>
  Effect.map(decode(options), (settings) => onStore(store, settings))

/** The minimum time between two listings of the keys, in milliseconds. */
const every = Duration.toMillis("1 hour")

/** The maximum number of removals of a write, so that no write has to wait until the whole store is checked. */
const atOnce = 16

const onStore = (store: Journal.Store, settings: typeof Settings.Type): Journal.UploadJournal["Service"] => {
  const expiry = Duration.toMillis(settings.expiry ?? "24 hours")
  const completedExpiry = Duration.toMillis(settings.completedExpiry ?? "60 days")
  const millis = Duration.toMillis(settings.leaseDuration ?? "10 seconds")
  const { leases } = store
  const lease = "lock" in leases ? Leasing.onLocks(leases, millis) : Leasing.make(leases, millis)

  /**
   * The entries of one kind. `removeIfExpired` removes an entry if it has expired and no process holds its lease. A
   * later write tries a failed removal again.
   *
   * - `codec`: the text of an entry.
   * - `isOwn`: whether a key belongs to an entry of this kind.
   * - `lifetime`: how long an entry is valid after its write, in milliseconds.
   */
  const entriesOf = <A extends { readonly writtenAt: number }>(
    codec: Schema.Codec<A, string>,
    isOwn: (key: string) => boolean,
    lifetime: (entry: A) => number
  ) => {
    const toEntry = Schema.decodeEffect(codec)
    const toText = Schema.encodeEffect(codec)

    const read = Effect.fnUntraced(function* (key: Journal.Key) {
      const text = yield* store.get(key)
      if (text === undefined) return undefined
      const entry = yield* Effect.mapError(
        toEntry(text),
        // The issue of the schema is omitted, because the text may contain secret URLs.
        () => new JournalTorn({ key, description: `the ${text.length} characters cannot be decoded` })
      )
      return { entry, hasExpired: entry.writtenAt + lifetime(entry) <= (yield* Clock.currentTimeMillis) }
    })
    const readIfWhole = (key: Journal.Key) => Effect.catchTag(read(key), "JournalTorn", () => Effect.undefined)
    const isExpired = (key: Journal.Key) => Effect.map(readIfWhole(key), (found) => found?.hasExpired === true)

    const removeIfExpired = (key: Journal.Key) =>
      Effect.gen(function* () {
        // If the entry is still valid, its lease is not acquired.
        if (!(yield* isExpired(key))) return
        yield* lease(key)
        if (yield* isExpired(key)) yield* store.remove(key)
      }).pipe(Effect.scoped, Effect.ignore)

    const entries: Journal.Entries<A> = {
      get: Effect.fnUntraced(function* (text) {
        const found = yield* read(yield* Journal.validKey(text))
        return found === undefined || found.hasExpired ? Option.none() : Option.some(found.entry)
      }),
      put: Effect.fnUntraced(function* (text, entry) {
        const key = yield* Journal.validKey(text)
        const encoded = yield* Effect.mapError(
          toText(entry),
          () => new JournalFailed({ action: "write", description: "the new entry is invalid" })
        )
        yield* store.set(key, encoded)
        yield* sweep
      }),
      forget: (text) => Effect.flatMap(Journal.validKey(text), store.remove),
      list: Effect.gen(function* () {
        const valid: Array<{ readonly key: string; readonly entry: A }> = []
        for (const key of (yield* store.keys).filter(Journal.isKey).filter(isOwn)) {
          const found = yield* readIfWhole(key)
          if (found?.hasExpired === true) yield* removeIfExpired(key)
          else if (found !== undefined) valid.push({ key, entry: found.entry })
        }
        return valid
      })
    }
    return { entries, removeIfExpired }
  }

  const uploads = entriesOf<Journal.Entry>(
    JournalEntry.uploads,
    (key) => !Journal.isAssemblyKey(key),
    // An untrusted upload stays untrusted, so its entry never expires.
    ({ state }) => (state._tag === "Untrusted" ? Infinity : expiry)
  )
  const assemblies = entriesOf<Journal.AssemblyEntry>(JournalEntry.assemblies, Journal.isAssemblyKey, ({ _tag }) =>
    _tag === "Completed" ? completedExpiry : expiry
  )

  /**
   * Removes the lease of a key if it expired at least the time `expiry` ago. If a process acquires such a lease between
   * the check and the removal, that process loses the lease again. The first renewal of the removed lease then fails,
   * and the upload or job of that process ends with `LeaseLost`.
   */
  const removeLease = ({ get, remove }: Journal.Leases, key: Journal.Key) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const text = yield* get(key)
      if (text === undefined || Leasing.until(text) + expiry <= now) yield* remove(key)
    }).pipe(Effect.ignore)

  let listedAt = -Infinity
  let left: Array<Effect.Effect<void>> = []
  /**
   * Removes some of what has expired. The keys are listed at most once an hour. Some processes end after one write, so the
   * order of the removals is random.
   */
  const sweep: Effect.Effect<void> = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (left.length === 0 && listedAt + every <= now) {
      listedAt = now
      const ofEntries = (yield* store.keys)
        .filter(Journal.isKey)
        .map((key) => (Journal.isAssemblyKey(key) ? assemblies : uploads).removeIfExpired(key))
      const ofLeases =
        "lock" in leases ? [] : (yield* leases.keys).filter(Journal.isKey).map((key) => removeLease(leases, key))
      left = yield* Random.shuffle([...ofEntries, ...ofLeases])
    }
    yield* Effect.all(left.splice(0, atOnce), { discard: true })
  }).pipe(Effect.ignore)

  return {
    ...uploads.entries,
    engine: Journaled.make,
    assemblies: assemblies.entries,
    lease: (text) => Effect.flatMap(Journal.validKey(text), lease)
  }
}

/**
 * A journal over a store of your own, such as the database of an application. The layer fails if the runtime has no
 * `crypto.subtle`, because the keys of entries are digests.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerStore = <E, R>(
  store: Effect.Effect<Journal.Store, E, R>,
  options: Options = {}
): Layer.Layer<Journal.UploadJournal, E | InvalidRequest | JournalFailed, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    Journal.UploadJournal,
    Effect.gen(function* () {
      const settings = yield* decode(options)
      if (!(yield* Digests.isAvailable))
        return yield* new JournalFailed({ action: "write", description: Digests.unavailable })
      return onStore(yield* store, settings)
    })
  )

/** A store of texts in memory. */
const memory = (): Journal.Store => {
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

/**
 * A journal in memory. The journal survives a failed upload, but not the end of the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: Options): Layer.Layer<Journal.UploadJournal, InvalidRequest | JournalFailed> =>
  layerStore(Effect.sync(memory), options)

/**
 * A journal in a folder, with one file for each entry. Except on Windows, only the owner of a file can read it. Files
 * are replaced atomically, so that after a crash either the old or the new entry exists.
 *
 * @example UploadJournal.layerFileSystem("/var/lib/my-app/uploads")
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFileSystem = (
  folder: string,
  options?: Options
): Layer.Layer<Journal.UploadJournal, InvalidRequest | JournalFailed, FileSystem.FileSystem | Path.Path> =>
  layerStore(Files.make(folder), options)
