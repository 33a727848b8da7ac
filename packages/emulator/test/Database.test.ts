import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { DatabaseSync } from "node:sqlite"
import * as Database from "../src/internal/data/database.ts"
import { migrations } from "../src/internal/data/migrations.ts"

const Count = Schema.Struct({ count: Schema.Int })

/** Creates a table. Answers how to insert and count. */
const notes = Effect.gen(function* () {
  const database = yield* Database.Database
  yield* database.run(() => database.command("CREATE TABLE notes (text TEXT NOT NULL) STRICT")({}))
  const insert = database.command("INSERT INTO notes (text) VALUES (:text)")
  const count = database.query(Count, "SELECT count(*) AS count FROM notes")
  return { insert, counted: database.run(() => count.all({})[0]?.count) }
})

it.effect("a transaction that fails keeps nothing, however it fails", () =>
  Effect.gen(function* () {
    const database = yield* Database.Database
    const { counted, insert } = yield* notes
    const thrown = yield* Effect.exit(
      database.transaction(() => {
        insert({ text: "one" })
        throw new Error("a defect")
      })
    )
    assert.isTrue(Exit.isFailure(thrown) && Cause.hasDies(thrown.cause))
    const refused = yield* Effect.flip(
      database.attempt(() => {
        insert({ text: "two" })
        return Result.fail("a reason")
      })
    )
    assert.strictEqual(refused, "a reason")
    assert.strictEqual(yield* counted, 0)
    yield* database.attempt(() => Result.succeed(insert({ text: "three" })))
    yield* database.transaction(() => insert({ text: "four" }))
    assert.strictEqual(yield* counted, 2)
  }).pipe(Effect.provide(Database.layer(":memory:")))
)

it.live("a full database is a typed error, keeps what it had, and goes on when there is room", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/test.sqlite`
    yield* Effect.gen(function* () {
      const database = yield* Database.Database
      const { counted, insert } = yield* notes
      yield* database.run(() => insert({ text: "kept" }))
      const pages = database.query(Schema.Struct({ page_count: Schema.Int }), "PRAGMA page_count")
      const used = yield* database.run(() => pages.all({})[0]?.page_count ?? 0)
      const limit = (most: number) =>
        database.run(() => database.query(Schema.Any, `PRAGMA max_page_count = ${most}`).all({}))
      yield* limit(used)
      const text = "x".repeat(100_000)
      const alone = yield* Effect.flip(database.run(() => insert({ text })))
      const together = yield* Effect.flip(
        database.transaction(() => {
          insert({ text: "small" })
          insert({ text })
        })
      )
      for (const error of [alone, together]) {
        assert.deepInclude(error, { _tag: "StorageFailed", path, reason: "Full", code: "SQLITE_FULL" })
      }
      assert.strictEqual(alone.message, `cannot use ${path}: there is no space left on the disk (SQLITE_FULL)`)
      assert.strictEqual(yield* counted, 1)
      yield* limit(1_000_000)
      yield* database.transaction(() => insert({ text }))
      assert.strictEqual(yield* counted, 2)
    }).pipe(Effect.provide(Database.layer(path)))
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

it.live("a database of any earlier version opens, with its rows", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const Row = Schema.Struct({ signature: Schema.String })
    const Version = Schema.Struct({ user_version: Schema.Int })
    for (const version of migrations.keys()) {
      const path = `${folder}/${version}.sqlite`
      const earlier = new DatabaseSync(path)
      for (const script of migrations.slice(0, version)) earlier.exec(script)
      if (version > 0) earlier.exec("INSERT INTO used_signatures VALUES ('kept', 1)")
      earlier.exec(`PRAGMA user_version = ${version}`)
      earlier.close()
      const opened = yield* Effect.gen(function* () {
        const database = yield* Database.Database
        const signatures = database.query(Row, "SELECT signature FROM used_signatures")
        const current = database.query(Version, "PRAGMA user_version")
        return yield* database.run(() => ({ signatures: signatures.all({}), current: current.all({}) }))
      }).pipe(Effect.provide(Layer.fresh(Database.layer(path))))
      assert.deepStrictEqual(opened.current, [{ user_version: migrations.length }])
      assert.deepStrictEqual(opened.signatures, version > 0 ? [{ signature: "kept" }] : [])
    }
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)
