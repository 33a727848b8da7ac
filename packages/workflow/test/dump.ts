import { DatabaseSync } from "node:sqlite"

/** Every value of every table, as text. */
export const dump = (path: string): string => {
  const database = new DatabaseSync(path)
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    return tables
      .flatMap(({ name }) => {
        const statement = database.prepare(`SELECT * FROM "${String(name)}"`)
        statement.setReadBigInts(true)
        return statement.all().map((row) => [name, ...Object.values(row).map(String)].join(" | "))
      })
      .join("\n")
  } finally {
    database.close()
  }
}
