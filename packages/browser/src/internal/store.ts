/**
 * Stores a journal in a database: its entries, and its leases if the browser has no Web Locks. Entries and leases are
 * texts.
 */
import type { JournalFailed, Leases, Store } from "@assembly-effect/tus/UploadJournal"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Database, make as open } from "./database.ts"
import * as WebLocks from "./webLocks.ts"

/** The browser services that a journal needs. Without `locks`, the journal uses leases that expire. */
export interface Platform {
  readonly indexedDB: IDBFactory
  readonly locks?: LockManager | undefined
}

/**
 * Converts a stored value to a text. Another program may have written a value that is not a text. Such a value is read
 * as an empty text, which is neither a valid entry nor a valid lease.
 */
const textOf = (value: unknown): string | undefined => (value === undefined || typeof value === "string" ? value : "")

const isText = (key: IDBValidKey): key is string => typeof key === "string"

const textsIn = (database: Database, store: "entries" | "leases") => ({
  get: (key: string) =>
    database.run({ action: "read", store, mode: "readonly" }, (texts) => {
      const request: IDBRequest<unknown> = texts.get(key)
      return () => textOf(request.result)
    }),
  remove: (key: string) =>
    database.run({ action: "remove", store, mode: "readwrite" }, (texts) => {
      texts.delete(key)
      return (): void => undefined
    }),
  keys: database.run({ action: "list", store, mode: "readonly" }, (texts) => {
    const request = texts.getAllKeys()
    return () => request.result.filter(isText)
  })
})

/** The compare-and-set of a lease is one transaction, so that only one of two pages succeeds. */
const swap =
  (database: Database): Leases["swap"] =>
  (key, expected, text) =>
    database.run({ action: "lease", store: "leases", mode: "readwrite" }, (texts) => {
      let isSwapped = false
      const request: IDBRequest<unknown> = texts.get(key)
      request.addEventListener("success", () => {
        if (textOf(request.result) !== expected) return
        isSwapped = true
        texts.put(text, key)
      })
      return () => isSwapped
    })

/**
 * The store of a journal in the database `name`, which is open until the scope ends. Its entries are on the disk when a
 * write ends, if the browser supports the durability `strict`.
 */
export const make = (
  { indexedDB, locks }: Platform,
  name = "assembly-effect-uploads"
): Effect.Effect<Store, JournalFailed, Scope.Scope> =>
  Effect.map(open(indexedDB, name), (database) => ({
    ...textsIn(database, "entries"),
    set: (key, text) =>
      database.run({ action: "write", store: "entries", mode: "readwrite", durability: "strict" }, (texts) => {
        texts.put(text, key)
        return (): void => undefined
      }),
    leases: locks === undefined ? { ...textsIn(database, "leases"), swap: swap(database) } : WebLocks.make(locks, name)
  }))
