/**
 * The journal of uploads that survive a crash. The journal has one entry for each upload, and one for each job of
 * `AssemblyUpload`. The entry of an upload is written before each creation request, before the first PATCH,
 * and when all bytes are stored or become untrusted. The entry of an upload contains capabilities (URLs that grant
 * access), so store the journal as a secret.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Journal from "./internal/journal.ts"
import { JournalFailed, JournalTorn, LeaseLost, UploadLeased } from "./internal/journalError.ts"
import * as Journaled from "./internal/journaled.ts"
import * as JournalEntry from "./internal/journalEntry.ts"
import * as Files from "./internal/journalFiles.ts"
import { canDigest, noDigest } from "./internal/outgoing.ts"

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

/** The text of a lease. `until` is the time of its expiry, in milliseconds since 1970. */
const LeaseText = Json.fromString(Schema.Struct({ owner: Schema.String, until: Schema.Finite }))
const decodeLease = Schema.decodeOption(LeaseText)
const encodeLease = Schema.encodeSync(LeaseText)

const readLease = (text: string | undefined) =>
  text === undefined ? undefined : Option.getOrUndefined(decodeLease(text))

/** The time when a lease expires, in milliseconds since 1970. Returns 0 if there is no valid lease. */
const until = (text: string | undefined): number => readLease(text)?.until ?? 0

/** The maximum wait for the store when a lease is released, in milliseconds. */
const longestRelease = 1000

type Acquire = (key: Journal.Key) => Effect.Effect<Journal.Lease, JournalFailed | UploadLeased, Scope.Scope>

/** The loss of a lease, which `lose` causes once, with its reason. */
const losing = (key: Journal.Key) => {
  const loss = Deferred.makeUnsafe<never, LeaseLost>()
  const lost = Deferred.await(loss)
  return {
    lost,
    lose: (description: string) => Effect.andThen(Deferred.fail(loss, new LeaseLost({ key, description })), lost),
    check: Effect.suspend(() => (Deferred.isDoneUnsafe(loss) ? lost : Effect.void))
  }
}

/**
 * Acquires the lease of a key, so that only one process or fiber runs an upload or a job, and renews it after a third of
 * `millis`. Each change of a lease is a compare-and-set, so that a holder detects when another holder has taken its lease.
 */
const leasing =
  (leases: Journal.Leases, millis: number): Acquire =>
  (key) =>
    Effect.gen(function* () {
      const owner = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4()).pipe(
        Effect.provide(SecureRandom.layerWebCrypto)
      )
      const scope = yield* Effect.scope
      let end = 0

      /** Replaces the stored text by a lease until `newEnd`. Returns false if another holder has changed the text. */
      const write = (existing: string | undefined, newEnd: number) =>
        Effect.map(leases.swap(key, existing, encodeLease({ owner, until: newEnd })), (isWritten) => {
          if (isWritten) end = newEnd
          return isWritten
        })

      /** Changes the end of the lease. A write that failed may have changed the store, so the stored text decides. */
      const extend = (newEnd: number) =>
        Effect.flatMap(leases.get(key), (text) =>
          readLease(text)?.owner === owner ? write(text, newEnd) : Effect.succeed(false)
        )

      // The finalizer is added before the claim, because an interrupted claim may still have written the lease.
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(Clock.currentTimeMillis, extend).pipe(
          Effect.interruptible,
          Effect.timeoutOption(Math.min(millis, longestRelease)),
          Effect.ignore
        )
      )

      const now = yield* Clock.currentTimeMillis
      const existing = yield* leases.get(key)
      if (until(existing) > now) return yield* new UploadLeased({ key, until: until(existing) })
      if (!(yield* write(existing, now + millis))) {
        return yield* new UploadLeased({ key, until: Math.max(now, until(yield* leases.get(key))) })
      }

      const { check: checkLoss, lose, lost } = losing(key)

      // A holder that cannot renew its lease stops its work a tenth of `millis` before the lease expires.
      const left = Effect.map(Clock.currentTimeMillis, (time) => end - millis / 10 - time)

      /** Returns whether the lease was renewed. An expired lease is renewed too, if nobody else has taken it. */
      const renew = Effect.gen(function* () {
        const time = yield* left
        // The change runs to its end in the scope of the lease, even if its result comes too late.
        const changing = yield* Effect.forkIn(extend((yield* Clock.currentTimeMillis) + millis), scope)
        const isOurs = yield* Effect.timeoutOrElse(Fiber.join(changing), {
          duration: time > 0 ? time : millis / 3,
          orElse: () => lose("the lease expired before the store responded to the renewal")
        })
        return isOurs ? true : yield* lose("another holder took the lease, or the lease was removed")
      }).pipe(
        Effect.catchTag("JournalFailed", ({ description }) =>
          Effect.flatMap(left, (time) =>
            time > 0 ? Effect.succeed(false) : lose(`the lease expired after its renewal failed: ${description}`)
          )
        )
      )

      // Only one change runs at a time, because a concurrent change would not find the text that it expects.
      const renewing = Semaphore.makeUnsafe(1)
      const check = Effect.gen(function* () {
        yield* checkLoss
        if ((yield* left) <= 0) yield* renew
      }).pipe(renewing.withPermits(1))

      // If the claim was slow, the lease may have expired before the store responded.
      yield* Effect.mapError(check, () => new UploadLeased({ key, until: end }))

      let pause = millis / 3
      const keep = Effect.gen(function* () {
        yield* Effect.sleep(pause)
        const isRenewed = yield* renewing.withPermits(1)(renew)
        pause = Math.max(1, Math.min(isRenewed ? millis / 3 : millis / 10, yield* left))
      })
      yield* Effect.forkScoped(Effect.ignore(Effect.forever(keep)))

      return { lost, check }
    })

/**
 * Takes the lock of a key. If another holder has the lock, fails with `UploadLeased`, whose `until` is `millis`
 * milliseconds from now.
 */
const leasingOn =
  (locks: Journal.Locks, millis: number): Acquire =>
  (key) =>
    Effect.gen(function* () {
      const held = yield* locks.lock(key)
      if (held === undefined) {
        return yield* new UploadLeased({ key, until: (yield* Clock.currentTimeMillis) + millis })
      }
      const { check, lose, lost } = losing(key)
      yield* Effect.forkScoped(Effect.ignore(Effect.flatMap(held.lost, lose)))
      return { lost, check }
    })

/** The minimum time between two listings of the keys, in milliseconds. */
const every = Duration.toMillis("1 hour")

/** The maximum number of removals of a write, so that no write has to wait until the whole store is checked. */
const atOnce = 16

const onStore = (store: Journal.Store, settings: typeof Settings.Type): Journal.UploadJournal["Service"] => {
  const expiry = Duration.toMillis(settings.expiry ?? "24 hours")
  const completedExpiry = Duration.toMillis(settings.completedExpiry ?? "60 days")
  const millis = Duration.toMillis(settings.leaseDuration ?? "10 seconds")
  const leases = "lock" in store.leases ? undefined : store.leases
  const lease = "lock" in store.leases ? leasingOn(store.leases, millis) : leasing(store.leases, millis)

  /**
   * The entries of one kind. `removeIfExpired` removes an entry if it has expired and no process holds its lease.
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
      }).pipe(Effect.scoped)

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
          if (found?.hasExpired === true) yield* Effect.ignore(removeIfExpired(key))
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
      if (text === undefined || until(text) + expiry <= now) yield* remove(key)
    })

  let listedAt = -Infinity
  let left: ReadonlyArray<Effect.Effect<void>> = []
  /**
   * Removes some of what has expired. The keys are listed at most once an hour. Some processes end after one write, so the
   * first removal after each listing is a random one. A failure is ignored, because a later write tries again.
   */
  const sweep: Effect.Effect<void> = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (left.length === 0 && listedAt + every <= now) {
      listedAt = now
      const ofEntries = (yield* store.keys)
        .filter(Journal.isKey)
        .map((key) => (Journal.isAssemblyKey(key) ? assemblies : uploads).removeIfExpired(key))
      const ofLeases =
        leases === undefined ? [] : (yield* leases.keys).filter(Journal.isKey).map((key) => removeLease(leases, key))
      const all = [...ofEntries, ...ofLeases].map((removal) => Effect.ignore(removal))
      const first = all.length === 0 ? 0 : yield* Random.nextIntBetween(0, all.length - 1)
      left = [...all.slice(first), ...all.slice(0, first)]
    }
    const some = left.slice(0, atOnce)
    left = left.slice(atOnce)
    yield* Effect.all(some, { discard: true })
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
      if (!(yield* canDigest)) {
        return yield* new JournalFailed({ action: "write", description: noDigest })
      }
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
