import { SqliteClient } from "@assembly-effect/sqlite"
import { SqliteError } from "@assembly-effect/sqlite/unstable/SqliteError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it, vi } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { DatabaseSync } from "node:sqlite"

const notes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL) STRICT`
  return {
    sql,
    add: (text: string) => sql`INSERT INTO notes ${sql.insert({ text })}`,
    texts: Effect.map(sql<{ text: string }>`SELECT text FROM notes ORDER BY id`, (rows) => rows.map(({ text }) => text))
  }
})

const memory = SqliteClient.layer({ path: ":memory:" })

it.effect("rows are written and read as objects, as values and as a stream", memory, function* () {
  const { add, sql, texts } = yield* notes
  for (const text of ["one", "two", "three"]) yield* add(text)
  assert.deepStrictEqual(yield* texts, ["one", "two", "three"])
  assert.deepStrictEqual(yield* sql`SELECT id, text FROM notes WHERE id < ${3}`.values, [
    [1, "one"],
    [2, "two"]
  ])
  // The same SQL text, now with objects as rows: the statement that returned arrays is still prepared.
  assert.deepInclude((yield* sql`SELECT id, text FROM notes WHERE id < ${3}`)[0], { id: 1, text: "one" })
  const streamed = yield* Stream.runCollect(sql<{ text: string }>`SELECT text FROM notes`.stream)
  assert.strictEqual(streamed.map(({ text }) => text).join(), "one,two,three")
  const [row] = yield* sql`SELECT ${true} AS yes, ${null} AS no, ${2n ** 40n} AS many`
  assert.deepInclude(row, { yes: 1, no: null, many: 2 ** 40 })
  assert.deepInclude(yield* sql`UPDATE notes SET text = text || '!'`.raw, { changes: 3 })
})

it.effect(
  "a failed transaction keeps nothing, and a failed inner transaction keeps only the outer changes",
  memory,
  function* () {
    const { add, sql, texts } = yield* notes
    yield* Effect.flip(sql.withTransaction(Effect.andThen(add("lost"), Effect.fail("a reason"))))
    const inner = Effect.ignore(sql.withTransaction(Effect.andThen(add("inner"), Effect.fail("a reason"))))
    yield* sql.withTransaction(Effect.andThen(add("kept"), inner))
    assert.deepStrictEqual(yield* texts, ["kept"])
  }
)

it.live("a transaction that is interrupted keeps nothing, and lets the next one in", memory, function* () {
  const { add, sql, texts } = yield* notes
  const begun = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(
    sql.withTransaction(Effect.all([add("lost"), Deferred.succeed(begun, undefined), Effect.never]))
  )
  yield* Deferred.await(begun)
  const next = yield* Effect.forkChild(sql.withTransaction(add("kept")))
  yield* Fiber.interrupt(fiber)
  yield* Fiber.join(next)
  assert.deepStrictEqual(yield* texts, ["kept"])
})

it.live("another fiber does not run inside a transaction", memory, function* () {
  const { add, sql, texts } = yield* notes
  const transaction = sql.withTransaction(
    add("first").pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(Effect.yieldNow), Effect.andThen(add("second")))
  )
  yield* Effect.all([transaction, add("other")], { concurrency: "unbounded" })
  assert.oneOf((yield* texts).join(), ["first,second,other", "other,first,second"])
})

it.effect("an error contains SQLite's message", memory, function* () {
  const { add, sql } = yield* notes
  yield* add("one")
  const twice = yield* Effect.flip(add("one"))
  assert.deepInclude(twice.reason, { _tag: "UniqueViolation", constraint: "notes.text" })
  assert.instanceOf(twice.reason.cause, SqliteError)
  // https://www.sqlite.org/rescode.html#constraint_unique
  assert.deepInclude(twice.reason.cause, { errno: 2067, path: ":memory:" })
  assert.strictEqual((yield* Effect.flip(sql`SELECT nothing FROM nowhere`)).reason._tag, "UnknownError")
})

const file = Effect.map(
  FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped()),
  (folder) => `${folder}/test.sqlite`
)

const files = Layer.merge(NodeFileSystem.layer, Reactivity.layer)

it.live("an exclusive file has one user, and keeps committed data", NodeFileSystem.layer, function* () {
  const client = Layer.fresh(SqliteClient.layer({ path: yield* file, isExclusive: true }))
  yield* Effect.gen(function* () {
    const { add } = yield* notes
    yield* add("one")
    const second = yield* Effect.flip(Effect.scoped(Layer.build(client)))
    assert.strictEqual(second.reason._tag, "LockTimeoutError")
  }).pipe(Effect.provide(client))
  const rows = SqlClient.SqlClient.use((sql) => sql`SELECT text FROM notes`.values)
  assert.deepStrictEqual(yield* Effect.provide(rows, client), [["one"]])
})

it.live("an exclusive file has one user, also before anything was written", NodeFileSystem.layer, function* () {
  const client = Layer.fresh(SqliteClient.layer({ path: yield* file, isExclusive: true }))
  yield* Layer.build(client)
  assert.strictEqual((yield* Effect.flip(Layer.build(client))).reason._tag, "LockTimeoutError")
})

const pragma = (sql: SqlClient.SqlClient, name: string) =>
  Effect.map(sql.unsafe(`PRAGMA ${name}`).values, ([row]) => row?.[0])

it.live("a file of several users waits for their locks, is synced, and keeps its references", files, function* () {
  const sql = yield* SqliteClient.make({ path: yield* file })
  const names = ["busy_timeout", "journal_mode", "synchronous", "foreign_keys"]
  assert.deepStrictEqual(yield* Effect.forEach(names, (name) => pragma(sql, name)), [5000, "wal", 1, 1])
  const synced = yield* SqliteClient.make({ path: yield* file, isSynced: true })
  assert.strictEqual(yield* pragma(synced, "synchronous"), 2)
})

it.live("a transaction has the lock of its file from its begin", files, function* () {
  const path = yield* file
  const [first, second] = yield* Effect.all([SqliteClient.make({ path }), SqliteClient.make({ path })])
  yield* second`PRAGMA busy_timeout = 0`
  yield* first`CREATE TABLE notes (text TEXT) STRICT`
  const error = yield* first.withTransaction(Effect.flip(second`INSERT INTO notes VALUES ('lost')`))
  assert.strictEqual(error.reason._tag, "LockTimeoutError")
  yield* second`INSERT INTO notes VALUES ('kept')`
  assert.deepStrictEqual(yield* first`SELECT text FROM notes`.values, [["kept"]])
})

it.effect("two streams of one statement are read in turns in a transaction", memory, function* () {
  const { add, sql } = yield* notes
  for (const text of ["one", "two", "three"]) yield* add(text)
  const stream = sql<{ text: string }>`SELECT text FROM notes ORDER BY id`.stream
  const pairs = yield* sql.withTransaction(Stream.runCollect(Stream.zip(stream, stream)))
  const seen = pairs.map(([first, second]) => `${first.text} ${second.text}`)
  assert.deepStrictEqual(seen, ["one one", "two two", "three three"])
})

it.effect("an integer of 2^53 or more is a bigint, and every smaller one a number", memory, function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT 9007199254740991 AS n UNION ALL SELECT 9007199254740992`
  assert.deepStrictEqual([rows[0]?.["n"], rows[1]?.["n"]], [9007199254740991, 9007199254740992n])
  assert.deepStrictEqual(yield* sql`SELECT 1, -9223372036854775808`.values, [[1, -9223372036854775808n]])
  assert.deepStrictEqual(yield* Stream.runCollect(sql`SELECT 2 AS n`.stream), [{ n: 2 }])
  yield* sql`CREATE TABLE numbers (n INTEGER)`
  assert.deepInclude(yield* sql`INSERT INTO numbers VALUES (1)`.raw, { changes: 1, lastInsertRowid: 1 })
})

it.effect("a statement is prepared once, and forgotten after many others", memory, function* () {
  const sql = yield* SqlClient.SqlClient
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare")
  yield* Effect.addFinalizer(() => Effect.sync(() => prepare.mockRestore()))
  const run = (number: number) => sql.unsafe(`SELECT ${number}`)
  for (const number of [0, 0, 0]) yield* run(number)
  assert.strictEqual(prepare.mock.calls.length, 1)
  for (let number = 1; number <= 200; number++) yield* run(number)
  yield* run(200)
  assert.strictEqual(prepare.mock.calls.length, 201)
  yield* run(0)
  assert.strictEqual(prepare.mock.calls.length, 202)
})
