/**
 * The journal over an IndexedDB in memory, with the locks of this runtime and with leases by time.
 */
import { IndexedDbJournal } from "@assembly-effect/browser"
import { UploadJournal, UploadTarget } from "@assembly-effect/tus"
import { assert, describe, it, vi } from "@assembly-effect/testkit/flow"
import { Context, Effect, Exit, Fiber, Layer, Option } from "effect"
import { WebCrypto } from "effect/crypto"
import { TestClock } from "effect/testing"
import { IDBDatabase, IDBFactory as MemoryFactory, forceCloseDatabase } from "fake-indexeddb"
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import * as Store from "../src/internal/store.ts"

type Journal = UploadJournal.UploadJournal["Service"]

const entry = Effect.map(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" }),
  (target): UploadJournal.Entry => ({
    target,
    metadata: { filename: "a", fieldname: "b" },
    size: 2n ** 60n,
    identity: "sha256 00",
    writtenAt: 0,
    state: { _tag: "Created", marker: "m", url: "https://a.example.com/resumable/files/1" }
  })
)

/** The journal of a tab. */
const makeJournal = (platform: Store.Platform, name?: string) =>
  Effect.flatMap(Store.make(platform, name), (store) => UploadJournal.make(store))

let count = 0
/** Names of locks are shared by this process: each test has its own. */
const nextName = () => `journal ${++count}`

const isLeased = (journal: Journal) =>
  Effect.scoped(journal.lease("k")).pipe(
    Effect.as(false),
    Effect.catchTag("UploadLeased", () => Effect.succeed(true))
  )

/** The result of a request of IndexedDB. */
const resultOf = <A>(request: IDBRequest<A>) =>
  Effect.callback<A>((resume) => request.addEventListener("success", () => resume(Effect.succeed(request.result))))

/** Two tabs of one browser. */
const twoTabs = (locks: LockManager | undefined) =>
  Effect.gen(function* () {
    const platform = { indexedDB: new MemoryFactory(), locks }
    const database = nextName()
    const make = makeJournal(platform, database)
    return { database, platform, first: yield* make, second: yield* make }
  })

/** An IndexedDB whose connections do something else with their transactions. */
const changed = (
  transaction: (
    database: IDBDatabase,
    options: IDBTransactionOptions | undefined,
    make: () => IDBTransaction
  ) => IDBTransaction,
  factory: IDBFactory = new MemoryFactory()
): IDBFactory => {
  const open: IDBFactory["open"] = (...args) => {
    const request = factory.open(...args)
    request.addEventListener("success", () => {
      const { result } = request
      const make = result.transaction
      result.transaction = (names, mode, options) =>
        transaction(result, options, () => make.call(result, names, mode, options))
    })
    return request
  }
  return Object.create(factory, { open: { value: open } })
}

for (const [name, locks] of [
  ["locks", navigator.locks],
  ["leases by time", undefined]
] as const) {
  describe(`a journal in IndexedDB with ${name}`, () => {
    it.effect("keeps, lists and forgets entries, for all tabs", function* () {
      const { first, second } = yield* twoTabs(locks)
      assert.isTrue(Option.isNone(yield* first.get("k")))
      yield* first.put("k", yield* entry)
      assert.deepStrictEqual(Option.getOrThrow(yield* second.get("k")), yield* entry)
      const [listed, ...others] = yield* second.list
      assert.deepStrictEqual([listed?.key, others], ["k", []])
      yield* second.forget("k")
      yield* second.forget("k")
      assert.isTrue(Option.isNone(yield* first.get("k")))
    })

    it.effect("removes what has expired", function* () {
      const { first } = yield* twoTabs(locks)
      yield* first.put("k", yield* entry)
      yield* Effect.scoped(first.lease("k"))
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* first.list, [])
      yield* TestClock.setTime(0)
      assert.isTrue(Option.isNone(yield* first.get("k")))
    })

    it.effect("leases an upload to one tab at a time", function* () {
      const { first, second } = yield* twoTabs(locks)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { check } = yield* first.lease("k")
          yield* check
          assert.isTrue(yield* isLeased(second))
          assert.isTrue(yield* isLeased(first))
          yield* second.lease("other")
        })
      )
      assert.isFalse(yield* isLeased(second))
    })

    it.effect("gives a lease to one of many that want it at once", function* () {
      const platform = { indexedDB: new MemoryFactory(), locks }
      const database = nextName()
      for (let round = 0; round < 20; round++) {
        const won = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => Effect.flatMap(makeJournal(platform, database), ({ lease }) => Effect.exit(lease("k"))),
          { concurrency: "unbounded" }
        ).pipe(Effect.scoped)
        assert.strictEqual(won.filter(Exit.isSuccess).length, 1)
      }
    })

    it.effect("goes on with an empty database when the user clears the data of the site", function* () {
      const { database, first, platform } = yield* twoTabs(locks)
      yield* first.put("k", yield* entry)
      yield* resultOf(platform.indexedDB.deleteDatabase(database))
      assert.isTrue(Option.isNone(yield* first.get("k")))
      yield* first.put("k", yield* entry)
      assert.isTrue(Option.isSome(yield* first.get("k")))
    })

    it.effect("opens its database again when the browser has closed it", () => {
      let closes = 1
      const indexedDB = changed((database, _, make) => {
        if (closes-- > 0) database.close()
        return make()
      })
      return Effect.gen(function* () {
        const journal = yield* makeJournal({ indexedDB, locks }, nextName())
        yield* journal.put("k", yield* entry)
        assert.isTrue(Option.isSome(yield* journal.get("k")))
        // One that is always closed is a failure, and no endless loop.
        closes = Infinity
        assert.deepInclude(yield* Effect.flip(journal.get("k")), { _tag: "JournalFailed", action: "read" })
      })
    })
  })
}

describe("the locks of a journal in IndexedDB", () => {
  it.effect("do not end by time", function* () {
    const { first, second } = yield* twoTabs(navigator.locks)
    const { check } = yield* first.lease("k")
    yield* TestClock.adjust("1 day")
    assert.isTrue(yield* isLeased(second))
    yield* check
  })

  it.effect("tell others to wait as long as for a lease", function* () {
    const { first, second } = yield* twoTabs(navigator.locks)
    yield* first.lease("k")
    assert.deepInclude(yield* Effect.flip(second.lease("k")), { _tag: "UploadLeased", key: "k", until: 10_000 })
  })

  it.live("end with the thread that holds them", function* () {
    const { database, first } = yield* twoTabs(navigator.locks)
    const worker = new Worker(
      `const { parentPort } = require("node:worker_threads")
         navigator.locks.request(${JSON.stringify(`${database}/k`)}, () => {
           parentPort.postMessage("held")
           return new Promise(() => {})
         })
         setInterval(() => {}, 1000)`,
      { eval: true }
    )
    yield* Effect.addFinalizer(() => Effect.promise(() => worker.terminate()))
    yield* Effect.promise(() => once(worker, "message"))
    assert.isTrue(yield* isLeased(first))
    yield* Effect.promise(() => worker.terminate())
    // The release is on its way when the thread has ended.
    yield* Effect.repeat(isLeased(first), { while: (leased) => leased })
  })

  it.live("that were stolen are lost", function* () {
    const { database, first } = yield* twoTabs(navigator.locks)
    const { check, lost } = yield* first.lease("k")
    yield* Effect.promise(() => navigator.locks.request(`${database}/k`, { steal: true }, () => undefined))
    const error = yield* Effect.flip(lost)
    assert.include(error.message, "another page stole the lock")
    assert.strictEqual((yield* Effect.flip(check))._tag, "LeaseLost")
  })

  it.effect("that the browser refuses are a typed error", function* () {
    const locks: LockManager = {
      query: () => navigator.locks.query(),
      request: () => Promise.reject(new DOMException("not here", "SecurityError"))
    }
    const { first } = yield* twoTabs(locks)
    assert.deepInclude(yield* Effect.flip(first.lease("k")), {
      _tag: "JournalFailed",
      action: "lease",
      description: "SecurityError: not here"
    })
  })
})

describe("leases by time in IndexedDB", () => {
  it.effect("are renewed while their tab is there, and run out after its end", () => {
    const factory = new MemoryFactory()
    let hasEnded = false
    const indexedDB = changed((_, __, make) => {
      if (hasEnded) throw new DOMException("the tab has ended", "AbortError")
      return make()
    }, factory)
    return Effect.gen(function* () {
      const first = yield* makeJournal({ indexedDB })
      const second = yield* makeJournal({ indexedDB: factory })
      yield* first.lease("k")
      for (let seconds = 0; seconds < 30; seconds += 5) {
        yield* TestClock.adjust("5 seconds")
        // The renewal is a transaction.
        yield* first.get("k")
        assert.isTrue(yield* isLeased(second), `after ${seconds} s`)
      }
      hasEnded = true
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(yield* isLeased(second))
    })
  })
})

describe("a write of a journal in IndexedDB", () => {
  it.effect("waits for the disk, and a read does not", () => {
    const durabilities: Array<string | undefined> = []
    const indexedDB = changed((_, options, make) => {
      durabilities.push(options?.durability)
      return make()
    })
    return Effect.gen(function* () {
      const journal = yield* makeJournal({ indexedDB, locks: navigator.locks })
      yield* journal.get("k")
      yield* journal.put("k", yield* entry)
      assert.deepStrictEqual(durabilities.slice(0, 2), ["relaxed", "strict"])
    })
  })

  it.effect("that fails when it is committed has failed, though its request succeeded", () => {
    const indexedDB = changed((_, options, make) => {
      const transaction = make()
      if (options?.durability !== "strict") return transaction
      Object.defineProperty(transaction, "error", { value: new DOMException("no quota left", "QuotaExceededError") })
      const { objectStore } = transaction
      transaction.objectStore = (name) => {
        const store = objectStore.call(transaction, name)
        const { put } = store
        store.put = (...args) => {
          const request = put.apply(store, args)
          request.addEventListener("success", () => transaction.abort())
          return request
        }
        return store
      }
      return transaction
    })
    return Effect.gen(function* () {
      const journal = yield* makeJournal({ indexedDB, locks: navigator.locks })
      const error = yield* Effect.flip(journal.put("k", yield* entry))
      assert.deepInclude(error, { _tag: "JournalFailed", action: "write", reason: "Full" })
      const problem = "cannot write: QuotaExceededError: no quota left; free some space, and run the upload again"
      assert.strictEqual(error.message, `the upload journal: ${problem}`)
      assert.isTrue(Option.isNone(yield* journal.get("k")))
    })
  })
})

describe("the layer of a journal in IndexedDB", () => {
  /** The IndexedDB of the page until the end of the scope. */
  const global = Effect.acquireRelease(
    Effect.sync(() => {
      const indexedDB = new MemoryFactory()
      vi.stubGlobal("indexedDB", indexedDB)
      return indexedDB
    }),
    () => Effect.sync(() => vi.unstubAllGlobals())
  )

  const closing = Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(IDBDatabase.prototype, "close")),
    (closed) => Effect.sync(() => closed.mockRestore())
  )

  const build = (options: IndexedDbJournal.Options) =>
    Effect.map(Layer.build(Layer.fresh(IndexedDbJournal.layer(options))), (context) =>
      Context.get(context, UploadJournal.UploadJournal)
    )

  const names = (indexedDB: IDBFactory) =>
    Effect.promise(async () => (await indexedDB.databases()).map(({ name }) => name))

  it.effect("uses its database, its options and the locks of the page", function* () {
    const indexedDB = yield* global
    const database = nextName()
    const first = yield* build({ database, leaseDuration: "3 seconds", expiry: "1 hour" })
    assert.deepStrictEqual(yield* names(indexedDB), [database])
    yield* first.put("k", yield* entry)
    yield* first.lease("k")
    const second = yield* build({ database, leaseDuration: "3 seconds" })
    assert.deepInclude(yield* Effect.flip(second.lease("k")), { _tag: "UploadLeased", until: 3000 })
    const { held = [] } = yield* Effect.promise(() => navigator.locks.query())
    assert.isTrue(held.some(({ name }) => name === `${database}/k`))
    yield* TestClock.adjust("2 hours")
    assert.deepStrictEqual(yield* first.list, [])
  })

  it.effect("closes its database at its end", function* () {
    const indexedDB = yield* global
    const closed = yield* closing
    yield* Effect.scoped(build({ database: nextName() }))
    assert.strictEqual(closed.mock.calls.length, 1)
    assert.strictEqual((yield* names(indexedDB)).length, 1)
  })

  it.live("closes a database that opens after the page has left", function* () {
    const indexedDB = yield* global
    const database = nextName()
    const closed = yield* closing
    const fiber = yield* Effect.forkChild(Effect.scoped(build({ database })), { startImmediately: true })
    yield* Fiber.interrupt(fiber)
    yield* resultOf(indexedDB.open(database))
    assert.strictEqual(closed.mock.calls.length, 1)
  })

  it.effect("opens one connection for requests that come at once after it was closed", function* () {
    const indexedDB = yield* global
    const open = vi.spyOn(indexedDB, "open")
    const journal = yield* build({ database: nextName() })
    for (const { value } of open.mock.results) forceCloseDatabase(value.result)
    yield* Effect.all([journal.get("a"), journal.get("b"), journal.get("c")], { concurrency: "unbounded" })
    assert.strictEqual(open.mock.calls.length, 2)
  })
})

describe("where IndexedDB cannot be used", () => {
  it.effect("is missing", function* () {
    const error = yield* Effect.flip(Effect.scoped(Layer.build(IndexedDbJournal.layer())))
    assert.strictEqual(error.message, "the upload journal: cannot read: IndexedDB is unavailable")
  })

  it.effect("that another connection blocks fails after 10 seconds, and says what to do", function* () {
    const factory = new MemoryFactory()
    // A page that ignores `versionchange`, and another that deletes the database.
    yield* resultOf(factory.open("blocked", 1))
    factory.deleteDatabase("blocked")
    const fiber = yield* Effect.forkChild(Effect.flip(makeJournal({ indexedDB: factory }, "blocked")))
    yield* TestClock.adjust("10 seconds")
    const error = yield* Fiber.join(fiber)
    assert.deepInclude(error, { _tag: "JournalFailed", action: "read" })
    assert.include(error.message, "close the other tabs of this site")
  })

  it.effect("is refused at once", function* () {
    const indexedDB = new MemoryFactory()
    indexedDB.open = () => {
      throw new DOMException("the origin is opaque", "SecurityError")
    }
    const error = yield* Effect.flip(makeJournal({ indexedDB }))
    assert.deepInclude(error, { _tag: "JournalFailed", description: "SecurityError: the origin is opaque" })
  })

  it.effect("has a newer database", function* () {
    const indexedDB = new MemoryFactory()
    const newer = yield* resultOf(indexedDB.open("assembly-effect-uploads", 2))
    newer.close()
    assert.include((yield* Effect.flip(makeJournal({ indexedDB }))).message, "VersionError")
  })

  it.effect("has what is no text under a key", function* () {
    const indexedDB = new MemoryFactory()
    const journal = yield* makeJournal({ indexedDB, locks: navigator.locks })
    const database = yield* resultOf(indexedDB.open("assembly-effect-uploads", 1))
    const entries = database.transaction("entries", "readwrite").objectStore("entries")
    yield* Effect.all([resultOf(entries.put(7, "k")), resultOf(entries.put("text", 7))], { concurrency: 2 })
    database.close()
    assert.strictEqual((yield* Effect.flip(journal.get("k")))._tag, "JournalTorn")
    assert.deepStrictEqual(yield* journal.list, [])
    yield* journal.forget("k")
    assert.isTrue(Option.isNone(yield* journal.get("k")))
  })
})

describe("a page on plain http", () => {
  it.effect("gets no journal, since the keys of entries need digests", function* () {
    const { crypto } = globalThis
    const insecure = new Proxy(crypto, {
      get: (real, name) => (name === "getRandomValues" ? real.getRandomValues.bind(real) : undefined)
    })
    const error = yield* Layer.build(IndexedDbJournal.layer()).pipe(
      Effect.scoped,
      Effect.provide(WebCrypto.layer(insecure)),
      Effect.flip
    )
    assert.include(error.message, "crypto.subtle is unavailable")
  })
})
