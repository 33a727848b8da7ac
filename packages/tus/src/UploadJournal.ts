/**
 * What survives a crash: one entry for each upload, written before the creation request, again before the first byte, and
 * when all bytes are stored. An entry holds capabilities; store it as a secret.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type * as Brand from "effect/Brand"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as AssemblyEntryAtRest from "./internal/assemblyEntry.ts"
import * as JournalEntries from "./internal/journalEntries.ts"
import * as Files from "./internal/journalFiles.ts"
import * as Stores from "./internal/journalStores.ts"
import * as JournalEntry from "./internal/journalEntry.ts"
import * as JournalKey from "./internal/journalKey.ts"
import * as Leasing from "./internal/lease.ts"
import type { JournalFailed, JournalTorn, LeaseLost, UploadLeased } from "./JournalError.ts"
import * as LeaseHolder from "./LeaseHolder.ts"
import type * as UploadTarget from "./UploadTarget.ts"

export { type JournalError, JournalFailed, JournalTorn, LeaseLost, NoSuchUpload, UploadLeased } from "./JournalError.ts"

/**
 * An entry. URLs are plain texts here: `UploadTarget.urlAtRest` makes capabilities of them, through the checks.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry = JournalEntry.Entry

/**
 * An Assembly whose files are uploaded by `ResumableAssemblyUpload`.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyEntry = AssemblyEntryAtRest.AssemblyEntry

/**
 * A key that keeps the rule of keys: 1 to 64 characters of a-z and 0-9.
 *
 * @since 0.1.0
 * @category models
 */
export type Key = string & Brand.Brand<"JournalKey">

/**
 * A lease that is held until its scope ends.
 *
 * @since 0.1.0
 * @category models
 */
export interface Lease {
  /** Fails when the lease is lost, and never ends otherwise. */
  readonly lost: Effect.Effect<never, LeaseLost>
  /** Fails unless the lease is held now. One that ran out is renewed, if nobody took it. */
  readonly check: Effect.Effect<void, LeaseLost>
}

/**
 * The leases of a store, as texts. `swap` is a compare-and-set: it replaces the text `expected`, or undefined for none,
 * and answers whether it did. Where the store can, the comparison and the replacement are atomic.
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
 * Where entries are kept, as texts, and leases. `make` makes a journal of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Store {
  readonly get: (key: Key) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: Key, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: Key) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  readonly leases: Leases
}

/**
 * The entries of one kind: uploads, or Assemblies. `get` and `list` leave expired entries out, `list` also those that
 * cannot be understood; `forget` removes an entry whatever it says.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entries<A> {
  readonly get: (key: string) => Effect.Effect<Option.Option<A>, JournalFailed | JournalTorn | ApiError.InvalidRequest>
  readonly put: (key: string, entry: A) => Effect.Effect<void, JournalFailed | ApiError.InvalidRequest>
  readonly forget: (key: string) => Effect.Effect<void, JournalFailed | ApiError.InvalidRequest>
  readonly list: Effect.Effect<ReadonlyArray<{ readonly key: string; readonly entry: A }>, JournalFailed>
}

/**
 * The journal: the entries of uploads, and those of Assemblies whose files are uploaded as one job. `lease` holds an
 * upload or a job until its scope ends.
 *
 * A key that breaks the rule, 1 to 64 characters of a-z and 0-9, fails with `InvalidRequest` before the store is asked.
 * `list` skips what a store has under other names.
 *
 * @since 0.1.0
 * @category services
 */
export class UploadJournal extends Context.Service<
  UploadJournal,
  Entries<Entry> & {
    readonly assemblies: Entries<AssemblyEntry>
    readonly lease: (
      key: string
    ) => Effect.Effect<Lease, JournalFailed | UploadLeased | ApiError.InvalidRequest, Scope.Scope>
  }
>()("@assembly-effect/tus/UploadJournal") {}

/**
 * - `expiry`: how long an entry is valid, 24 hours by default, since servers remove unfinished uploads. An `Untrusted` entry
 *   never expires. Expired entries are removed by `list`, and by `put` once an hour at most.
 * - `leaseDuration`: how long a lease outlives a process that died, 10 seconds by default. A running process renews it
 *   after a third of that.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly expiry?: Duration.Input | undefined
  readonly leaseDuration?: Duration.Input | undefined
}

const sweepEvery = Duration.toMillis("1 hour")

/**
 * A journal over a store. `holder` is what is known of the holders of leases where the upload is given nothing else.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  store: Store,
  options: Options = {},
  holder: LeaseHolder.Service = LeaseHolder.unknown
): UploadJournal["Service"] => {
  const expiry = Duration.toMillis(options.expiry ?? "24 hours")

  const lease = Leasing.make(store.leases, {
    millis: Duration.toMillis(options.leaseDuration ?? "10 seconds"),
    holder
  })

  /** Removes leases that expired long ago. Who takes one in this moment loses it at the renewal. */
  const sweepLeases = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const key of (yield* store.leases.keys).filter(JournalKey.isKey)) {
      const text = yield* store.leases.get(key)
      if (text === undefined || Leasing.until(text) + expiry <= now) yield* store.leases.remove(key)
    }
  })

  let sweptAt: number | undefined
  /** Removes what has expired, once an hour at most. What cannot be removed now is removed later. */
  const sweepAtTimes: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (sweptAt !== undefined && sweptAt + sweepEvery > now) return Effect.void
    sweptAt = now
    return Effect.ignore(Effect.all([uploads.list, assemblies.list, sweepLeases], { discard: true }))
  })

  const isOld = ({ writtenAt }: Entry | AssemblyEntry, now: number) => writtenAt + expiry <= now

  const uploads: Entries<Entry> = JournalEntries.make<Entry>(
    store,
    lease,
    {
      encode: JournalEntry.encode,
      decode: JournalEntry.decode,
      isKey: (key) => !isAssemblyKey(key),
      // An untrusted upload stays untrusted.
      isExpired: (entry, now) => entry._tag !== "Untrusted" && isOld(entry, now)
    },
    sweepAtTimes
  )
  const assemblies: Entries<AssemblyEntry> = JournalEntries.make<AssemblyEntry>(
    store,
    lease,
    { encode: AssemblyEntryAtRest.encode, decode: AssemblyEntryAtRest.decode, isKey: isAssemblyKey, isExpired: isOld },
    sweepAtTimes
  )

  return {
    ...uploads,
    list: Effect.tap(uploads.list, () => Effect.ignore(sweepLeases)),
    assemblies,
    lease: (text) => Effect.flatMap(JournalKey.check(text), lease)
  }
}

const utf8 = new TextEncoder()

/** A digest of what identifies an upload or a job. */
const digestOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Digest.Digest.use((digest) => digest.digest(Digest.sha256, utf8.encode(JSON.stringify(parts)))).pipe(
    Effect.map(Hex.encode),
    Effect.provide(Digest.layerWebCrypto)
  )

/**
 * The key of an upload: the Assembly it is for, and what identifies its bytes. `file` is its index among the files of a
 * job, which may have two of the same bytes and name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const keyOf = (
  target: UploadTarget.UploadTarget,
  upload: {
    readonly identity: string | undefined
    readonly size: bigint
    readonly filename: string
    readonly fieldname: string
    readonly file?: number | undefined
  }
): Effect.Effect<string> =>
  digestOf([
    Redacted.value(target.assemblySslUrl),
    upload.identity ?? null,
    String(upload.size),
    upload.filename,
    upload.fieldname,
    ...(upload.file === undefined ? [] : [upload.file])
  ])

/** No digest in hexadecimal digits begins with it. */
const assemblyPrefix = "job"
const isAssemblyKey = (key: string): boolean => key.startsWith(assemblyPrefix)

/**
 * The key of a job: the service, its params, and what identifies its files.
 *
 * @since 0.1.0
 * @category constructors
 */
export const assemblyKeyOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Effect.map(digestOf(parts), (digest) => (assemblyPrefix + digest).slice(0, 64))

/**
 * A journal in memory: it survives a failed upload, not the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: Options): Layer.Layer<UploadJournal> =>
  Layer.effect(
    UploadJournal,
    Effect.map(LeaseHolder.LeaseHolder, (holder) => make(Stores.memory(), options, holder))
  )

/**
 * A journal in a folder, one file an entry, readable by its owner only. Files are replaced as a whole: a crash leaves
 * the old entry or the new one.
 *
 * @example UploadJournal.layerFileSystem("/var/lib/my-app/uploads")
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFileSystem = (
  folder: string,
  options?: Options
): Layer.Layer<UploadJournal, JournalFailed, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    UploadJournal,
    Effect.gen(function* () {
      return make(yield* Files.make(folder), options, yield* LeaseHolder.LeaseHolder)
    })
  )

/**
 * A journal in any KeyValueStore: SQL, Redis, or the storage of a browser.
 *
 * **Gotchas**
 *
 * Such a store has no atomic set-if-absent: two processes that begin the same upload in the same moment may both hold
 * its lease, and each may create an upload. The one that wrote first stops with `LeaseLost` at its next renewal, a third
 * of `leaseDuration` later. Every later change of a lease is atomic where the store's `modify` is. Fibers of one process
 * that share this layer never hold the same lease.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerKeyValueStore = (options?: Options): Layer.Layer<UploadJournal, never, KeyValueStore.KeyValueStore> =>
  Layer.effect(
    UploadJournal,
    Effect.gen(function* () {
      const store = KeyValueStore.prefix(yield* KeyValueStore.KeyValueStore, "upload-journal-")
      return make(Stores.fromKeyValueStore(store), options, yield* LeaseHolder.LeaseHolder)
    })
  )
