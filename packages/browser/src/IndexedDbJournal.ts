/**
 * An upload journal in the IndexedDB of a page, so that an upload survives a reload, a crash and a closed tab.
 */
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Database from "./internal/database.ts"
import * as Texts from "./internal/texts.ts"
import * as WebLocks from "./internal/webLocks.ts"

/**
 * The options of a journal, see `UploadJournal.Options`, and:
 *
 * - `database`: the name of the database, `assembly-effect-uploads` by default. Journals of other names share nothing.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends UploadJournal.Options {
  readonly database?: string | undefined
}

/**
 * What a journal needs of a browser. Without `locks` it has leases by time.
 *
 * @since 0.1.0
 * @category models
 */
export interface Platform {
  readonly indexedDB: IDBFactory
  readonly locks?: LockManager | undefined
}

/**
 * A journal over the IndexedDB and the locks of a platform. Its database is open until the scope ends.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  { indexedDB, locks }: Platform,
  { database: name = "assembly-effect-uploads", ...options }: Options = {}
): Effect.Effect<UploadJournal.UploadJournal["Service"], UploadJournal.JournalFailed, Scope.Scope> =>
  Effect.map(Database.make(indexedDB, name), (database) =>
    UploadJournal.make(Texts.make(database, locks === undefined ? undefined : WebLocks.make(locks, name)), options)
  )

/** Frames without an origin, some private windows and some servers have no IndexedDB, or refuse to name it. */
const platform: Effect.Effect<Platform, UploadJournal.JournalFailed> = Effect.suspend(() => {
  const none = new UploadJournal.JournalFailed({ action: "read", problem: "there is no IndexedDB here" })
  try {
    if (!("indexedDB" in globalThis)) return Effect.fail(none)
    const { indexedDB } = globalThis
    // Older browsers have no locks.
    return Effect.succeed("locks" in navigator ? { indexedDB, locks: navigator.locks } : { indexedDB })
  } catch {
    return Effect.fail(none)
  }
})

/**
 * A journal in IndexedDB, shared by all pages and workers of the origin.
 *
 * **When to use**
 *
 * In a page whose uploads should continue after a reload, a crash, or the end of the browser. The user has to give the
 * file again: a page cannot keep it.
 *
 * **Details**
 *
 * An entry is on the disk before the next request is sent (`durability: "strict"`, where the browser has it).
 * `JournalFailed` with the reason `Full` tells that the quota of the origin is used up.
 *
 * One tab at a time runs an upload. It holds a Web Lock, which ends with the tab, so that another tab continues within
 * half a second; a tab in the background keeps it, however slow its timers are. Where a browser has no Web
 * Locks, a lease lasts `leaseDuration` after the end of the tab. A page on plain `http` has no digests, which the keys
 * of entries need: there the Layer fails with `JournalFailed`.
 *
 * The journal opens its database again when the user has cleared the data of the site.
 *
 * **Gotchas**
 *
 * - Entries hold upload URLs, which need no other proof. Every script of the origin can read them.
 * - A browser may delete the data of an origin when the disk is full. `navigator.storage.persist()` asks it not to.
 *
 * @example
 * ResumableUpload.run(target, UploadSource.fromBlob(file), {
 *   metadata: { filename: file.name, fieldname: "file" }
 * }).pipe(Effect.provide(IndexedDbJournal.layer()))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<UploadJournal.UploadJournal, UploadJournal.JournalFailed> =>
  Layer.effect(
    UploadJournal.UploadJournal,
    UploadJournal.available.pipe(
      Effect.andThen(platform),
      Effect.flatMap((here) => make(here, options))
    )
  )
