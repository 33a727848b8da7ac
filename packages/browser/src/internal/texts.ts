/**
 * Stores a journal in a database: its entries, and its leases if the browser has no Web Locks. Entries and leases are
 * texts.
 */
import type { Leases, Locks, Store } from "@assembly-effect/tus/UploadJournal"
import type { Database } from "./database.ts"

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
 * A store whose entries are on the disk when a write ends, if the browser supports the durability `strict`. If `locks`
 * is undefined, the store uses leases instead.
 */
export const make = (database: Database, locks: Locks | undefined): Store => ({
  ...textsIn(database, "entries"),
  set: (key, text) =>
    database.run({ action: "write", store: "entries", mode: "readwrite", durability: "strict" }, (texts) => {
      texts.put(text, key)
      return (): void => undefined
    }),
  leases: locks ?? { ...textsIn(database, "leases"), swap: swap(database) }
})
