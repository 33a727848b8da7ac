import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { DatabaseSync } from "node:sqlite"
import * as DamStore from "../src/internal/dam/damStore.ts"
import * as Database from "../src/internal/data/database.ts"
import { migrations } from "../src/internal/data/migrations.ts"
import * as Statement from "../src/internal/data/statement.ts"
import { layerStore, put } from "./assets.ts"

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

it.effect("a transaction that fails keeps nothing, however it fails", () =>
  Effect.gen(function* () {
    const { counted, insert, sql } = yield* notes
    const transaction = <A, E>(work: Effect.Effect<A, E>) => Statement.stored(sql.withTransaction(work))
    const died = yield* Effect.exit(transaction(Effect.andThen(insert("one"), Effect.die(new Error("a defect")))))
    assert.isTrue(Exit.isFailure(died) && Cause.hasDies(died.cause))
    const refused = yield* Effect.flip(transaction(Effect.andThen(insert("two"), Effect.fail("a reason"))))
    assert.strictEqual(refused, "a reason")
    const fiber = yield* Effect.forkChild(transaction(Effect.andThen(insert("three"), Effect.never)), {
      startImmediately: true
    })
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(yield* counted, 0)
    yield* transaction(insert("four"))
    assert.strictEqual(yield* counted, 1)
  }).pipe(Effect.provide(Database.layer(":memory:")))
)

it.effect("a statement that is wrong and a row that breaks its schema are defects", () =>
  Effect.gen(function* () {
    const { sql } = yield* notes
    const wrong = yield* Effect.exit(Statement.run(sql`SELECT nothing FROM nowhere`))
    assert.isTrue(Exit.isFailure(wrong) && Cause.hasDies(wrong.cause))
    const Text = Schema.Struct({ text: Schema.String })
    const number = sql`SELECT 1 AS text`
    for (const read of [Statement.all(Text)(number), Statement.first(Text)(number), Statement.one(Text)(number)]) {
      const broken = yield* Effect.exit<unknown, unknown, never>(read)
      assert.isTrue(Exit.isFailure(broken) && Cause.hasDies(broken.cause))
    }
  }).pipe(Effect.provide(Database.layer(":memory:")))
)

it.live("a full database is a typed error, keeps what it had, and goes on when there is room", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/test.sqlite`
    yield* Effect.gen(function* () {
      const { counted, insert, sql } = yield* notes
      yield* insert("kept")
      const used = yield* Statement.one(Schema.Struct({ page_count: Schema.Int }))(sql`PRAGMA page_count`)
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
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

/** The number and the statements of each migration. */
const scripts = Object.entries(migrations).map(
  ([name, statements]) => [Number.parseInt(name, 10), statements.join(";\n")] as const
)

const schemaSql = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'effect_sql%' ORDER BY name"

it.live("a database of any earlier version opens, with its rows, and has the same schema", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const complete = new DatabaseSync(":memory:")
    for (const [, script] of scripts) complete.exec(script)
    const schema = complete.prepare(schemaSql).all().map(Object.values)
    complete.close()
    for (let version = 0; version <= scripts.length; version++) {
      const path = `${folder}/${version}.sqlite`
      // Makes the database of a version before Effect's Migrator.
      const earlier = new DatabaseSync(path)
      for (const [, script] of scripts.slice(0, version)) earlier.exec(script)
      if (version > 0) earlier.exec("INSERT INTO used_signatures VALUES ('kept', 1)")
      earlier.exec(`PRAGMA user_version = ${scripts[version - 1]?.[0] ?? 0}`)
      earlier.close()
      // The second opening runs no migration.
      const openings = version === 5 ? 2 : 1
      for (let opening = 0; opening < openings; opening++) {
        const opened = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          return {
            schema: yield* sql.unsafe(schemaSql).values,
            signatures: yield* sql`SELECT signature FROM used_signatures`.values,
            migrated: yield* sql`SELECT migration_id FROM effect_sql_migrations ORDER BY migration_id`.values
          }
        }).pipe(Effect.provide(Layer.fresh(Database.layer(path))))
        assert.deepStrictEqual(opened.schema, schema)
        assert.deepStrictEqual(opened.signatures, version > 0 ? [["kept"]] : [])
        const missing = scripts.slice(version).map(([number]) => [number])
        assert.deepStrictEqual(opened.migrated, missing)
      }
    }
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

it.live("the Auth Keys of a database without their records get ids of their own", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/old.sqlite`
    const earlier = new DatabaseSync(path)
    for (const [number, script] of scripts) if (number < 12) earlier.exec(script)
    earlier.exec(
      "INSERT INTO auth_keys VALUES ('one', 'secret', 'main', '[\"read\"]'), ('two', 'secret', 'main', '[]')"
    )
    earlier.exec("PRAGMA user_version = 11")
    earlier.close()
    const [one, two] = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql`SELECT * FROM auth_keys ORDER BY key`
    }).pipe(Effect.provide(Database.layer(path)))
    assert.match(String(one?.["id"]), /^[0-9a-f]{32}$/)
    assert.match(String(two?.["id"]), /^[0-9a-f]{32}$/)
    assert.notStrictEqual(one?.["id"], two?.["id"])
    assert.deepInclude(one, {
      key: "one",
      secret: "secret",
      workspace: "main",
      scopes: '["read"]',
      is_active: 1,
      can_show_auth_secret: 0,
      signature_algo: null,
      created_at: null,
      last_used_at: null
    })
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

it.live("the assets of an older version keep their order in lists, and new assets come after them", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/test.sqlite`
    const earlier = new DatabaseSync(path)
    for (const [number, script] of scripts) if (number < 13) earlier.exec(script)
    const insert = earlier.prepare("INSERT INTO assets VALUES (?, 'main', NULL, ?, ?, 1, ?)")
    const version = earlier.prepare("INSERT INTO versions VALUES (?, ?, 'blob', NULL, 1, ?, ?, 1, NULL)")
    for (const [letter, deleted] of [
      ["z", null],
      ["m", 5],
      ["a", null]
    ] as const) {
      const [id, versionId] = [`${letter.repeat(21)}A`, `${letter.repeat(21)}Q`]
      insert.run(id, letter, versionId, deleted)
      version.run(versionId, id, "0".repeat(32), "0".repeat(64))
    }
    earlier.exec("PRAGMA user_version = 12")
    earlier.close()
    yield* Effect.gen(function* () {
      const dam = yield* DamStore.DamStore
      yield* put("b")
      const listing = { workspace: "main", prefix: "", limit: 2 }
      const first = yield* dam.list({ ...listing, cursor: undefined })
      const second = yield* dam.list({ ...listing, cursor: first.nextCursor ?? assert.fail("no cursor") })
      assert.deepStrictEqual(
        [...first.assets, ...second.assets].map((asset) => asset.path),
        ["z", "a", "b"]
      )
    }).pipe(Effect.provide(layerStore(path)))
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

it.effect("the database of another program is refused and gets no tables", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/emulator.sqlite`
    const foreign = new DatabaseSync(path)
    foreign.exec("CREATE TABLE theirs (a)")
    foreign.close()
    const error = yield* Effect.flip(Effect.provide(Effect.void, Database.layer(path)))
    assert.deepInclude(error, { _tag: "StorageFailed", reason: "Damaged", path })
    const after = new DatabaseSync(path)
    const tables = after.prepare("SELECT name FROM sqlite_master").all()
    after.close()
    assert.deepStrictEqual(
      tables.map(({ name }) => name),
      ["theirs"]
    )
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

it.effect("a damaged database is refused with its path", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/emulator.sqlite`
    yield* fs.writeFileString(path, "this is not a database, but it is longer than a header of SQLite. ".repeat(9))
    const error = yield* Effect.flip(Effect.provide(Effect.void, Database.layer(path)))
    assert.strictEqual(
      error.message,
      `cannot use ${path}: the file is damaged, or another program has made it (SQLITE_NOTADB)`
    )
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)
