import { changes } from "../Mutant.ts"

export const sqlite = [
  ...changes(
    "packages/sqlite/src/SqliteClient.ts",
    ["SqliteClient"],
    [
      {
        name: "an exclusive database can be opened twice",
        find: `PRAGMA locking_mode = EXCLUSIVE; `,
        replace: `PRAGMA locking_mode = NORMAL; `
      },
      {
        name: "the number of an error is lost",
        find: `SqlError.classifySqliteError(toCause(path, problem), `,
        replace: `SqlError.classifySqliteError(problem, `
      },
      {
        name: "an error does not name its file",
        find: `this.path = options.path`,
        replace: `this.path = ""`
      },
      {
        name: "a statement goes on returning arrays",
        find: `statement.setReturnArrays(false)`,
        replace: `statement.setReturnArrays(true)`
      }
    ]
  ),
  ...changes(
    "packages/sqlite/src/SqliteClient.ts",
    ["SqliteClient"],
    [
      {
        name: "writes are not synced to the disk",
        find: `isSynced ? "FULL" : "NORMAL"`,
        replace: `isSynced ? "FULL" : "OFF"`
      },
      {
        name: "a synced transaction is not synced",
        find: `isSynced ? "FULL"`,
        replace: `isSynced ? "NORMAL"`
      },
      {
        name: "a statement does not wait for a lock",
        find: `PRAGMA busy_timeout = 5000; `,
        replace: ``
      },
      {
        name: "a transaction gets its lock only at its first write",
        find: `beginTransaction: "BEGIN IMMEDIATE"`,
        replace: `beginTransaction: "BEGIN"`
      },
      {
        name: "two streams share a statement",
        find: `database.prepare(sql).iterate(`,
        replace: `prepare(sql).iterate(`
      },
      {
        name: "every statement is remembered",
        find: `prepared.size > maxPrepared && `,
        replace: `prepared.size < 0 && `
      }
    ]
  )
]
