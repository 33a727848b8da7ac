/**
 * An upload journal in the IndexedDB of a page, so that an upload survives a reload, a crash and a closed tab.
 */
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Effect from "effect/Effect"
import * as Store from "./internal/store.ts"

/**
 * The options of a journal, see `UploadJournal.Options`, and:
 *
 * - `database`: the name of the database, `assembly-effect-uploads` by default. Journals with different names share no
 *   data.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends UploadJournal.Options {
  readonly database?: string | undefined
}

/**
 * The IndexedDB and the locks of this page. Frames without an origin, some private windows and programs outside a
 * browser have no IndexedDB. In some of these environments, reading `indexedDB` throws an exception.
 */
const platform: Effect.Effect<Store.Platform, UploadJournal.JournalFailed> = Effect.suspend(() => {
  const none = new UploadJournal.JournalFailed({ action: "read", description: "IndexedDB is unavailable" })
  try {
    if (!("indexedDB" in globalThis)) return Effect.fail(none)
    const { indexedDB } = globalThis
    // Older browsers have no Web Locks.
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
 * Use this journal in a page whose uploads should continue after a reload or a crash, or after the browser was closed.
 * The user has to select the file again, because the journal does not store the file, and a reload ends the page that
 * holds the file.
 *
 * **Details**
 *
 * When the journal writes an entry, the upload waits until the entry is on the disk, if the browser supports the
 * durability `strict`. `JournalFailed` with the reason `Full` means that the quota of the origin is used up.
 *
 * Only one tab at a time runs an upload: the tab that holds the Web Lock of the upload. The lock ends with the tab. If
 * another tab waits for the lock at that moment, that tab continues the upload within half a second. A tab in the
 * background keeps its lock, even if the browser slows its timers. In a browser without Web Locks, the tab holds a
 * lease, which expires at most `leaseDuration` after the end of the tab. In a page on plain `http` (except on
 * `localhost` and the addresses of loopback) the Layer fails with `JournalFailed`, because the keys of entries need
 * digests, and browsers do not offer digests to such a page.
 *
 * If the user clears the data of the site, the journal opens its database again.
 *
 * **Gotchas**
 *
 * - An entry contains upload URLs. Whoever knows such a URL can write to the upload without other credentials. Every
 *   script of the origin can read an entry.
 * - A browser may delete the data of an origin when the disk is full. `navigator.storage.persist()` asks the browser to
 *   keep the data.
 *
 * @example
 * Upload.run(target, UploadSource.fromBlob(picked), {
 *   metadata: { filename: picked.name, fieldname: "file" }
 * }).pipe(Effect.provide(Upload.layerJournaled.pipe(Layer.provide(IndexedDbJournal.layer()))))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = ({ database, ...options }: Options = {}) =>
  UploadJournal.layerStore(
    Effect.flatMap(platform, (here) => Store.make(here, database)),
    options
  )
