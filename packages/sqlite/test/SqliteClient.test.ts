import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"

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

it.effect("rows are written and read as objects, as values and as a stream", () =>
  Effect.gen(function* () {
    const { add, sql, texts } = yield* notes
    for (const text of ["one", "two", "three"]) yield* add(text)
    assert.deepStrictEqual(yield* texts, ["one", "two", "three"])
    assert.deepStrictEqual(yield* sql`SELECT id, text FROM notes WHERE id < ${3}`.values, [
      [1, "one"],
      [2, "two"]
    ])
    // The same SQL text, now with objects as rows: the statement that returned arrays is still prepared.
    assert.deepStrictEqual(
      { ...(yield* sql<object>`SELECT id, text FROM notes WHERE id < ${3}`)[0] },
      { id: 1, text: "one" }
    )
    const streamed = yield* Stream.runCollect(sql<{ text: string }>`SELECT text FROM notes`.stream)
    assert.deepStrictEqual(
      streamed.map(({ text }) => text),
      ["one", "two", "three"]
    )
    assert.deepStrictEqual(
      { ...(yield* sql<object>`SELECT ${true} AS yes, ${null} AS no, ${2n ** 40n} AS many`)[0] },
      {
        yes: 1,
        no: null,
        many: 2 ** 40
      }
    )
    assert.deepInclude(yield* sql`UPDATE notes SET text = text || '!'`.raw, { changes: 3 })
  }).pipe(Effect.provide(memory))
)

it.effect("a failed transaction keeps nothing, and a failed inner transaction keeps only the outer changes", () =>
  Effect.gen(function* () {
    const { add, sql, texts } = yield* notes
    yield* Effect.flip(sql.withTransaction(Effect.andThen(add("lost"), Effect.fail("a reason"))))
    const inner = Effect.ignore(sql.withTransaction(Effect.andThen(add("inner"), Effect.fail("a reason"))))
    yield* sql.withTransaction(Effect.andThen(add("kept"), inner))
    assert.deepStrictEqual(yield* texts, ["kept"])
  }).pipe(Effect.provide(memory))
)

it.live("a transaction that is interrupted keeps nothing, and lets the next one in", () =>
  Effect.gen(function* () {
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
  }).pipe(Effect.provide(memory))
)

it.live("another fiber does not run inside a transaction", () =>
  Effect.gen(function* () {
    const { add, sql, texts } = yield* notes
    const transaction = sql.withTransaction(
      add("first").pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(Effect.yieldNow), Effect.andThen(add("second")))
    )
    yield* Effect.all([transaction, add("other")], { concurrency: "unbounded" })
    assert.deepStrictEqual(
      (yield* texts).filter((text) => text !== "other"),
      ["first", "second"]
    )
    assert.notStrictEqual((yield* texts)[1], "other")
  }).pipe(Effect.provide(memory))
)

it.effect("an error contains SQLite's message", () =>
  Effect.gen(function* () {
    const { add, sql } = yield* notes
    yield* add("one")
    const twice = yield* Effect.flip(add("one"))
    assert.deepInclude(twice.reason, { _tag: "UniqueViolation", constraint: "notes.text" })
    assert.instanceOf(twice.reason.cause, SqliteClient.SqliteError)
    // https://www.sqlite.org/rescode.html#constraint_unique
    assert.deepInclude(twice.reason.cause, { errno: 2067, path: ":memory:" })
    assert.strictEqual((yield* Effect.flip(sql`SELECT nothing FROM nowhere`)).reason._tag, "UnknownError")
  }).pipe(Effect.provide(memory))
)

it.live("an exclusive file has one user, and keeps committed data", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/test.sqlite`
    const client = Layer.fresh(SqliteClient.layer({ path, isExclusive: true }))
    yield* Effect.gen(function* () {
      const { add } = yield* notes
      yield* add("one")
      const second = yield* Effect.flip(Effect.scoped(Layer.build(client)))
      assert.strictEqual(second.reason._tag, "LockTimeoutError")
    }).pipe(Effect.provide(client))
    const sql = yield* Effect.provide(
      SqlClient.SqlClient.use((again) => again`SELECT text FROM notes`.values),
      client
    )
    assert.deepStrictEqual(sql, [["one"]])
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

it.effect("the Migrator of effect/sql runs each migration once", () =>
  Effect.gen(function* () {
    const loader = Migrator.fromRecord({
      "1_notes": SqlClient.SqlClient.use((sql) => sql`CREATE TABLE notes (text TEXT) STRICT`),
      "2_first": SqlClient.SqlClient.use((sql) => sql`INSERT INTO notes (text) VALUES ('one')`)
    })
    const run = Migrator.make({})({ loader })
    assert.deepStrictEqual(yield* run, [
      [1, "notes"],
      [2, "first"]
    ])
    assert.deepStrictEqual(yield* run, [])
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* sql`SELECT text FROM notes`.values, [["one"]])
  }).pipe(Effect.provide(memory))
)
