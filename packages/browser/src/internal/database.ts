/**
 * An IndexedDB database that stores texts, and its transactions.
 */
import { JournalFailed } from "@assembly-effect/tus/UploadJournal"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** The names of the object stores of the database. Each object store contains texts with their keys. */
const storeNames = ["entries", "leases"] as const
type StoreName = (typeof storeNames)[number]

const version = 1

/**
 * - `durability`: with `strict`, a write waits until the change is on the disk, if the browser supports this.
 */
interface Transaction {
  readonly action: JournalFailed["action"]
  readonly store: StoreName
  readonly mode: "readonly" | "readwrite"
  readonly durability?: IDBTransactionDurability | undefined
}

/**
 * Runs one transaction. `requests` makes the requests of the transaction, and returns a function that reads the result
 * after the end of the transaction.
 */
export interface Database {
  readonly run: <A>(
    options: Transaction,
    requests: (store: IDBObjectStore) => () => A
  ) => Effect.Effect<A, JournalFailed>
}

/** The error of IndexedDB: a DOMException, or null if the browser gives no error, for example when the page closes. */
type Failure = { readonly name: string; readonly message: string } | null

const failureOf = (error: unknown): Failure => (error instanceof Error || error instanceof DOMException ? error : null)

const failed =
  (action: JournalFailed["action"]) =>
  (failure: Failure): JournalFailed => {
    if (failure === null) return new JournalFailed({ action, description: "the browser aborted the operation" })
    const { message, name } = failure
    const problem = message === "" ? name : `${name}: ${message}`
    return new JournalFailed({ action, description: problem, reason: name === "QuotaExceededError" ? "Full" : "Other" })
  }

/**
 * The time limit for opening the database. IndexedDB itself waits as long as another connection blocks the database.
 */
const openLimit = Duration.seconds(10)

const blocked: Failure = {
  name: "TimeoutError",
  message: `the database did not open within ${Duration.toSeconds(openLimit)} s; close the other tabs of this site`
}

const open = (factory: IDBFactory, name: string): Effect.Effect<IDBDatabase, Failure> =>
  Effect.timeoutOrElse(openNow(factory, name), { duration: openLimit, orElse: () => Effect.fail(blocked) })

const openNow = (factory: IDBFactory, name: string): Effect.Effect<IDBDatabase, Failure> =>
  Effect.callback<IDBDatabase, Failure>((resume) => {
    let request: IDBOpenDBRequest
    try {
      request = factory.open(name, version)
    } catch (error) {
      return resume(Effect.fail(failureOf(error)))
    }
    request.addEventListener("upgradeneeded", () => {
      for (const store of storeNames) request.result.createObjectStore(store)
    })
    request.addEventListener("success", () => resume(Effect.succeed(request.result)))
    request.addEventListener("error", () => resume(Effect.fail(request.error)))
    // If the database opens after an interruption, it is closed at once, because no caller waits for the database any
    // more. An open database would block its deletion.
    return Effect.sync(() => request.addEventListener("success", () => request.result.close()))
  })

/**
 * Calls `requests` in the same turn of the event loop in which it creates the transaction, because the browser ends a
 * transaction without requests.
 */
const transact = <A>(
  database: IDBDatabase,
  { durability = "relaxed", mode, store }: Transaction,
  requests: (store: IDBObjectStore) => () => A
): Effect.Effect<A, Failure> =>
  Effect.callback<A, Failure>((resume) => {
    let result: () => A
    try {
      const transaction = database.transaction(store, mode, { durability })
      // The success of a request is not enough, because the browser may still fail to write the change.
      transaction.addEventListener("complete", () => resume(Effect.sync(() => result())))
      transaction.addEventListener("abort", () => resume(Effect.fail(transaction.error)))
      result = requests(transaction.objectStore(store))
    } catch (error) {
      resume(Effect.fail(failureOf(error)))
    }
  })

/**
 * Whether the connection was closed, because the site's data was cleared, or because a page upgrades or deletes the
 * database.
 */
const isClosed = (failure: Failure): boolean => failure?.name === "InvalidStateError"

/** Opens a database. If its connection is closed, the next transaction opens the database again. */
export const make = (factory: IDBFactory, name: string): Effect.Effect<Database, JournalFailed, Scope.Scope> =>
  Effect.gen(function* () {
    let current: IDBDatabase | undefined
    const forget = (database: IDBDatabase) => {
      if (current === database) current = undefined
    }
    const opened = Effect.map(open(factory, name), (database) => {
      database.addEventListener("close", () => forget(database))
      database.addEventListener("versionchange", () => {
        database.close()
        forget(database)
      })
      current = database
      return database
    })
    const opening = Semaphore.makeUnsafe(1)
    const connection = Effect.suspend(() => (current === undefined ? opened : Effect.succeed(current))).pipe(
      opening.withPermits(1)
    )

    yield* Effect.addFinalizer(() => Effect.sync(() => current?.close()))
    yield* Effect.mapError(connection, failed("read"))

    return {
      run: (options, requests) => {
        const attempt = Effect.flatMap(connection, (database) =>
          Effect.tapError(transact(database, options, requests), (failure) =>
            Effect.sync(() => {
              if (isClosed(failure)) forget(database)
            })
          )
        )
        return attempt.pipe(Effect.retry({ times: 1, while: isClosed }), Effect.mapError(failed(options.action)))
      }
    }
  })
