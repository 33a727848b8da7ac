import { changes } from "../Mutant.ts"

export const sqlite = changes(
  "packages/sqlite/src/SqliteClient.ts",
  ["SqliteClient"],
  [
    {
      name: "a file that is exclusive belongs to many",
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
)
