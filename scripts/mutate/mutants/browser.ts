import { changes } from "../Mutant.ts"

export const browser = [
  ...changes(
    "packages/browser/src/internal/database.ts",
    ["IndexedDbJournal"],
    [
      {
        name: "a write succeeds before its transaction is complete",
        find: `transaction.addEventListener("complete", () => resume(`,
        replace: `setTimeout(() => resume(`
      },
      {
        name: "a database that the browser closed is not opened again",
        find: `Effect.retry({ times: 1, while: isClosed })`,
        replace: `Effect.retry({ times: 0, while: isClosed })`
      },
      {
        name: "a page does not close its database when another page deletes it",
        find: `        database.close()
        forget(database)`,
        replace: `        forget(database)`
      },
      {
        name: "a full quota has the kind of other failures",
        find: `name === "QuotaExceededError"`,
        replace: `name === "QuotaError"`
      }
    ]
  ),
  ...changes(
    "packages/browser/src/internal/texts.ts",
    ["IndexedDbJournal"],
    [
      {
        name: "an entry is written without waiting for the disk",
        find: `mode: "readwrite", durability: "strict"`,
        replace: `mode: "readwrite", durability: "relaxed"`
      },
      {
        name: "two tabs take one lease",
        find: `if (textOf(request.result) !== expected) return`,
        replace: `if (textOf(request.result) === "none") return`
      },
      {
        name: "a stored value that is not a string is ignored",
        find: `typeof value === "string" ? value : ""`,
        replace: `typeof value === "string" ? value : undefined`
      }
    ]
  ),
  ...changes(
    "packages/browser/src/internal/webLocks.ts",
    ["IndexedDbJournal"],
    [
      {
        name: "a page waits for a lock that another one has",
        find: `{ ifAvailable: true }`,
        replace: `{}`
      },
      {
        name: "a lock is not released",
        find: `Effect.sync(() => free())`,
        replace: `Effect.sync(() => free)`
      },
      {
        name: "a stolen lock is not lost",
        find: `if (isGranted) Deferred.doneUnsafe(`,
        replace: `if (isGranted && lost === undefined) Deferred.doneUnsafe(`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/lock.ts",
    ["IndexedDbJournal"],
    [
      {
        project: "browser",
        name: "a process does not wait for a lock that is taken",
        find: `(yield* Clock.currentTimeMillis) + millis`,
        replace: `yield* Clock.currentTimeMillis`
      },
      {
        project: "browser",
        name: "the check of a lock does not detect its loss",
        find: `Deferred.isDoneUnsafe(loss) ? lost : Effect.void`,
        replace: `Deferred.isDoneUnsafe(loss) ? Effect.void : Effect.void`
      }
    ]
  ),
  ...changes(
    "packages/browser/src/IndexedDbJournal.ts",
    ["IndexedDbJournal"],
    [
      {
        name: "the name of the database is lost",
        find: `makeStore(here, database)`,
        replace: `makeStore(here)`
      },
      {
        name: "the locks of the page are not used",
        find: `{ indexedDB, locks: navigator.locks }`,
        replace: `{ indexedDB }`
      },
      {
        name: "the options of the journal are lost",
        find: `database)),
    options`,
        replace: `database)),
    {}`
      }
    ]
  ),
  ...changes(
    "packages/browser/src/internal/database.ts",
    ["IndexedDbJournal"],
    [
      {
        name: "each request opens a connection of its own",
        find: `.pipe(
      opening.withPermits(1)
    )`,
        replace: ``
      },
      {
        name: "a database stays open after its layer",
        find: `yield* Effect.addFinalizer(() => Effect.sync(() => current?.close()))`,
        replace: ``
      },
      {
        name: "a database that opens late stays open",
        find: `return Effect.sync(() => request.addEventListener("success", () => request.result.close()))`,
        replace: `return Effect.void`
      }
    ]
  )
]
