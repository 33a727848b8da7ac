/**
 * The journal of uploads that survive a crash. The journal has one entry for each upload, and one for each job of
 * `AssemblyUpload`. The entry of an upload is written before each creation request, before the first PATCH,
 * and when all bytes are stored or become untrusted. The entry of an upload contains capabilities (URLs that grant
 * access), so store the journal as a secret.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import type * as Brand from "effect/Brand"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as AssemblyEntryAtRest from "./internal/assemblyEntry.ts"
import * as JournalEntries from "./internal/journalEntries.ts"
import * as Files from "./internal/journalFiles.ts"
import * as Stores from "./internal/journalStores.ts"
import * as Subtle from "./internal/subtle.ts"
import * as JournalEntry from "./internal/journalEntry.ts"
import * as Journaled from "./internal/journaled.ts"
import type { JournaledUploads } from "./internal/journaled.ts"
import * as JournalKey from "./internal/journalKey.ts"
import * as KeyOf from "./internal/keyOf.ts"
import * as Leasing from "./internal/lease.ts"
import * as Lock from "./internal/lock.ts"
import * as Sweep from "./internal/sweep.ts"
import type { JournalFailed, JournalTorn, LeaseLost, UploadLeased } from "./internal/journalError.ts"
import * as LeaseHolder from "./internal/leaseHolder.ts"

export {
  type JournalError,
  JournalFailed,
  JournalTorn,
  LeaseLost,
  NoSuchUpload,
  UploadLeased
} from "./internal/journalError.ts"
export { keyOf } from "./internal/keyOf.ts"
export { type Holder, LeaseHolder } from "./internal/leaseHolder.ts"

/**
 * The entry of one upload. The upload URLs in an entry are plain text; `UploadTarget.urlAtRest` checks a URL and
 * converts it to an `UploadUrl`.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry = JournalEntry.Entry

/**
 * The entry of an Assembly whose files are uploaded by `AssemblyUpload`.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyEntry = AssemblyEntryAtRest.AssemblyEntry

/**
 * A valid key: 1 to 64 characters of a-z and 0-9.
 *
 * @since 0.1.0
 * @category models
 */
export type Key = string & Brand.Brand<"JournalKey">

/**
 * A lease of an upload or a job. While one process or fiber holds the lease, no other one runs the upload or the job.
 * The lease is held until its scope closes or the lease is lost.
 *
 * @since 0.1.0
 * @category models
 */
export interface Lease {
  /** Fails when the lease is lost, and never ends otherwise. */
  readonly lost: Effect.Effect<never, LeaseLost>
  /** Fails unless the lease is held now. An expired or almost expired lease is renewed, if nobody has taken it. */
  readonly check: Effect.Effect<void, LeaseLost>
}

/**
 * The leases of a store, as texts. `swap` is a compare-and-set: if the stored text is `expected` (undefined for no
 * text), `swap` replaces it with `text`. `swap` returns whether the text was replaced. The comparison and the
 * replacement are atomic if the store permits it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Leases {
  readonly get: (key: Key) => Effect.Effect<string | undefined, JournalFailed>
  readonly swap: (key: Key, expected: string | undefined, text: string) => Effect.Effect<boolean, JournalFailed>
  readonly remove: (key: Key) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
}

/**
 * The locks of a platform that releases a lock when its holder ends, such as Web Locks. A store with such locks needs
 * no leases. `lock` holds the lock of a key until the scope in its context closes, or returns undefined if another
 * holder has the lock. `lost` completes with the reason when the lock is lost, and never otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export interface Locks {
  readonly lock: (
    key: Key
  ) => Effect.Effect<{ readonly lost: Effect.Effect<string> } | undefined, JournalFailed, Scope.Scope>
}

/**
 * A store of entries as texts, with the leases or locks of their keys. `make` makes a journal on a store.
 *
 * @since 0.1.0
 * @category models
 */
export interface Store {
  readonly get: (key: Key) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: Key, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: Key) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  readonly leases: Leases | Locks
}

/**
 * The entries of one kind: uploads, or Assemblies. `get` and `list` omit expired entries, and `list` also omits
 * unreadable entries. `forget` removes an entry even if it is unreadable.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entries<A> {
  readonly get: (key: string) => Effect.Effect<Option.Option<A>, JournalFailed | JournalTorn | InvalidRequest>
  readonly put: (key: string, entry: A) => Effect.Effect<void, JournalFailed | InvalidRequest>
  readonly forget: (key: string) => Effect.Effect<void, JournalFailed | InvalidRequest>
  readonly list: Effect.Effect<ReadonlyArray<{ readonly key: string; readonly entry: A }>, JournalFailed>
}

// The types of `engine`.
export type { UploadOptions } from "./internal/context.ts"
export type { Emit } from "./internal/events.ts"
export type { JournaledUploads, Kept, RunOptions } from "./internal/journaled.ts"

/**
 * The journal: the entries of uploads, and the entries of Assemblies whose files are uploaded as one job. `lease`
 * acquires the lease of an upload or a job, and holds this lease until the scope in the context closes.
 *
 * An invalid key fails with `InvalidRequest` before the store is used. A valid key has 1 to 64 characters of a-z and
 * 0-9. `list` skips names in the store that are not valid keys.
 *
 * @since 0.1.0
 * @category services
 */
export class UploadJournal extends Context.Service<
  UploadJournal,
  Entries<Entry> & {
    /** Runs the uploads of `Upload.layerJournaled`. So a bundle without a journal does not contain this code. */
    readonly engine: JournaledUploads
    readonly assemblies: Entries<AssemblyEntry>
    readonly lease: (key: string) => Effect.Effect<Lease, JournalFailed | UploadLeased | InvalidRequest, Scope.Scope>
  }
>()("@assembly-effect/tus/UploadJournal") {}

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
 * @category schemas
 */
export const Settings = Schema.Struct({
  expiry: Schema.optional(Rules.duration),
  completedExpiry: Schema.optional(Rules.expiry),
  leaseDuration: Schema.optional(Rules.duration)
})
/**
 * The options as the program writes them.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("UploadJournal", Settings)

/**
 * Makes a journal on a store. `holder` is used for uploads and jobs whose context has no {@link LeaseHolder}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  store: Store,
  options: Options = {},
  holder: LeaseHolder.Holder = LeaseHolder.unknown
): Effect.Effect<UploadJournal["Service"], InvalidRequest> =>
  Effect.map(decode(options), (settings) => onStore(store, settings, holder))

const onStore = (
  store: Store,
  settings: typeof Settings.Type,
  holder: LeaseHolder.Holder
): UploadJournal["Service"] => {
  const expiry = Duration.toMillis(settings.expiry ?? "24 hours")
  const completedExpiry = Duration.toMillis(settings.completedExpiry ?? "60 days")

  const { leases } = store
  const millis = Duration.toMillis(settings.leaseDuration ?? "10 seconds")
  const lease = "lock" in leases ? Lock.make(leases, { millis }) : Leasing.make(leases, { millis, holder })

  /**
   * Removes a lease that expired at least the time `expiry` ago. If a process acquires the lease between this check and
   * the removal, that process loses the lease again. The first renewal of the removed lease then fails, and the upload
   * or job of that process ends with `LeaseLost`.
   */
  const removeExpiredLease = (key: Key) =>
    Effect.gen(function* () {
      if ("lock" in leases) return
      const now = yield* Clock.currentTimeMillis
      const text = yield* leases.get(key)
      if (text === undefined || Leasing.until(text) + expiry <= now) yield* leases.remove(key)
    })

  const leaseKeys =
    "lock" in leases ? Effect.succeed([]) : Effect.map(leases.keys, (keys) => keys.filter(JournalKey.isKey))
  const sweepLeases = Effect.flatMap(leaseKeys, (keys) => Effect.forEach(keys, removeExpiredLease, { discard: true }))

  const sweepSome: Effect.Effect<void> = Sweep.make(
    Effect.gen(function* () {
      const entries = (yield* store.keys).filter(JournalKey.isKey)
      const ended = yield* leaseKeys
      return [
        ...entries.map((key) => (isAssemblyKey(key) ? assemblies : uploads).removeIfExpired(key)),
        ...ended.map(removeExpiredLease)
      ]
    }),
    (remove) => remove
  )

  const isOld = ({ writtenAt }: Entry | AssemblyEntry, now: number) => writtenAt + expiry <= now

  const uploads: JournalEntries.Swept<Entry> = JournalEntries.make<Entry>(
    store,
    lease,
    {
      encode: JournalEntry.encode,
      decode: JournalEntry.decode,
      isKey: (key) => !isAssemblyKey(key),
      // An untrusted upload stays untrusted, so its entry never expires.
      isExpired: (entry, now) => entry._tag !== "Untrusted" && isOld(entry, now)
    },
    sweepSome
  )
  const assemblies: JournalEntries.Swept<AssemblyEntry> = JournalEntries.make<AssemblyEntry>(
    store,
    lease,
    {
      encode: AssemblyEntryAtRest.encode,
      decode: AssemblyEntryAtRest.decode,
      isKey: isAssemblyKey,
      isExpired: (entry, now) =>
        entry._tag === "Completed" ? entry.writtenAt + completedExpiry <= now : isOld(entry, now)
    },
    sweepSome
  )

  return {
    ...uploads.entries,
    engine: Journaled.engine,
    list: Effect.tap(uploads.entries.list, () => Effect.ignore(sweepLeases)),
    assemblies: assemblies.entries,
    lease: (text) => Effect.flatMap(JournalKey.check(text), lease)
  }
}

/**
 * The prefix of the keys of jobs. The key of an upload never has this prefix, because that key is a hexadecimal digest.
 */
const assemblyPrefix = "job"
const isAssemblyKey = (key: string): boolean => key.startsWith(assemblyPrefix)

/**
 * The key of a job: `job` and a shortened digest of `parts`. `parts` identify the service, the params of the job and
 * its files.
 *
 * @since 0.1.0
 * @category constructors
 */
export const assemblyKeyOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Effect.map(KeyOf.digestOf(parts), (digest) => (assemblyPrefix + digest).slice(0, 64))

/**
 * A journal over a store of your own, such as the database of an application. The layer fails if the runtime has no
 * `crypto.subtle`, because the keys of entries are digests.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerStore = <E, R>(
  store: Effect.Effect<Store, E, R>,
  options: Options = {}
): Layer.Layer<UploadJournal, E | InvalidRequest | JournalFailed, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    UploadJournal,
    Effect.gen(function* () {
      const settings = yield* decode(options)
      yield* Subtle.forJournal
      return onStore(yield* store, settings, yield* LeaseHolder.LeaseHolder)
    })
  )

/**
 * A journal in memory. The journal survives a failed upload, but not the end of the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: Options): Layer.Layer<UploadJournal, InvalidRequest | JournalFailed> =>
  layerStore(Effect.sync(Stores.memory), options)

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
): Layer.Layer<UploadJournal, InvalidRequest | JournalFailed, FileSystem.FileSystem | Path.Path> =>
  layerStore(Files.make(folder), options)

/**
 * A journal in any KeyValueStore: SQL, Redis, or the storage of a browser.
 *
 * **Gotchas**
 *
 * A key-value store has no atomic set-if-absent: if two processes start the same upload at the same moment, both may
 * hold its lease, and each may create an upload. The process whose lease was overwritten by the other process stops
 * with `LeaseLost` at its next renewal, after a third of `leaseDuration`. Every later change of a lease is atomic if
 * the store's `modify` is atomic. Fibers of one process that share this layer never hold the same lease.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerKeyValueStore = (
  options?: Options
): Layer.Layer<UploadJournal, InvalidRequest | JournalFailed, KeyValueStore.KeyValueStore> =>
  layerStore(
    Effect.map(KeyValueStore.KeyValueStore, (store) =>
      Stores.fromKeyValueStore(KeyValueStore.prefix(store, "upload-journal-"))
    ),
    options
  )
