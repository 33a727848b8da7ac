import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Cause, Effect, Exit, FileSystem, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../src/internal/data/database.ts"
import * as Statement from "../src/internal/data/statement.ts"
import * as StorageFailure from "../src/internal/data/storageFailure.ts"
import { inDatabase, temporaryFolder } from "./support.ts"
import { assert, it, test } from "@assembly-effect/testkit/flow"

/** Creates a table. Returns effects that insert a row and count the rows. */
const notes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notes (text TEXT NOT NULL) STRICT`
  return {
    sql,
    insert: (text: string) => Statement.run(sql`INSERT INTO notes ${sql.insert({ text })}`),
    counted: Effect.map(sql`SELECT text FROM notes`.values, ({ length }) => length)
  }
})

it.effect("a wrong statement and a row that breaks its schema are defects", Database.layer(":memory:"), function* () {
  const { sql } = yield* notes
  const wrong = yield* Effect.exit(Statement.run(sql`SELECT nothing FROM nowhere`))
  assert.isTrue(Exit.isFailure(wrong) && Cause.hasDies(wrong.cause))
  const Text = Schema.Struct({ text: Schema.String })
  const number = sql`SELECT 1 AS text`
  for (const read of [
    Statement.rows(Text).all(number),
    Statement.rows(Text).first(number),
    Statement.rows(Text).one(number)
  ]) {
    const broken = yield* Effect.exit<unknown, unknown, never>(read)
    assert.isTrue(Exit.isFailure(broken) && Cause.hasDies(broken.cause))
  }
})

it.live("a full database is a typed error, and goes on when there is room", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/test.sqlite`
  yield* Effect.gen(function* () {
    const { counted, insert, sql } = yield* notes
    yield* insert("kept")
    const used = yield* Statement.rows(Schema.Struct({ page_count: Schema.Int })).one(sql`PRAGMA page_count`)
    // A pragma takes no parameter.
    const limit = (most: number) => Statement.run(sql`PRAGMA max_page_count = ${sql.literal(String(most))}`)
    yield* limit(used.page_count)
    const text = "x".repeat(100_000)
    const alone = yield* Effect.flip(insert(text))
    const together = yield* Effect.andThen(insert("small"), insert(text)).pipe(
      sql.withTransaction,
      Statement.stored,
      Effect.flip
    )
    for (const error of [alone, together]) {
      assert.deepInclude(error, { _tag: "StorageFailed", path, reason: "Full", code: "SQLITE_FULL" })
    }
    assert.strictEqual(alone.message, `cannot use ${path}: there is no space left on the disk (SQLITE_FULL)`)
    assert.strictEqual(yield* counted, 1)
    yield* limit(1_000_000)
    yield* insert(text).pipe(sql.withTransaction, Statement.stored)
    assert.strictEqual(yield* counted, 2)
  }).pipe(Effect.provide(Database.layer(path)))
})

it.effect("the database of another program is refused and gets no tables", function* () {
  const data = yield* temporaryFolder
  const path = `${data}/emulator.sqlite`
  inDatabase(data, "CREATE TABLE theirs (a)")
  const error = yield* Effect.flip(Effect.provide(Effect.void, Database.layer(path)))
  assert.deepInclude(error, { _tag: "StorageFailed", reason: "Damaged", path })
  const tables = inDatabase(data, "SELECT name FROM sqlite_master").map(({ name }) => name)
  assert.deepStrictEqual(tables, ["theirs"])
})

it.effect("a damaged database is refused with its path", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/emulator.sqlite`
  yield* fs.writeFileString(path, "this is not a database, but it is longer than a header of SQLite. ".repeat(9))
  const error = yield* Effect.flip(Effect.provide(Effect.void, Database.layer(path)))
  assert.strictEqual(
    error.message,
    `cannot use ${path}: the file is damaged, or another program has made it (SQLITE_NOTADB)`
  )
})

test.each([
  ["ENOSPC", "Full"],
  ["EDQUOT", "Full"],
  ["EFBIG", "Full"],
  ["EROFS", "ReadOnly"],
  ["EACCES", "Denied"],
  ["EPERM", "Denied"],
  ["EIO", "Broken"]
] as const)("the error %s of the system is %s, also as the cause of an error of Effect", (code, reason) => {
  const problem = Object.assign(new Error("no"), { code })
  for (const error of [problem, { reason: { cause: problem } }]) {
    assert.deepInclude(StorageFailure.fromSystem("file")(error), { path: "file", code, reason })
  }
})
