/** Tests that the statements of the DAM use indexes, so that only a list reads all assets of a Workspace. */
import type * as Identifier from "@assembly-effect/schema/Identifier"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import * as DamStore from "../src/internal/dam/damStore.ts"
import { layerStore, put } from "./assets.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

/** Runs an effect and returns the statements that the effect executed, with their parameters. */
const statementsOf = <A, E, R>(work: Effect.Effect<A, E, R>) => {
  const statements: Array<readonly [text: string, params: ReadonlyArray<unknown>]> = []
  return work.pipe(
    Effect.provideService(Statement.CurrentTransformer, (statement) =>
      Effect.sync(() => {
        statements.push(statement.compile())
        return statement
      })
    ),
    Effect.map((result) => ({ statements, result }))
  )
}

const decodePlan = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ detail: Schema.String })))

/** Returns the steps of SQLite's query plan for a statement. */
const planOf = Effect.fnUntraced(function* (text: string, params: ReadonlyArray<unknown>) {
  const sql = yield* SqlClient.SqlClient
  return decodePlan(yield* sql.unsafe(`EXPLAIN QUERY PLAN ${text}`, params)).map(({ detail }) => detail)
})

const workspace = "main"

/** Runs all operations of the DAM except the list. */
const operations = Effect.gen(function* () {
  const dam = yield* DamStore.DamStore
  const [first, second] = [yield* put("a/b/first"), yield* put("a/b/second")]
  yield* put("a/b/second")
  const assetIds: ReadonlyArray<Identifier.AssetId> = [first.id, second.id]
  yield* dam.get(workspace, first.id, undefined)
  yield* dam.get(workspace, first.id, first.version)
  const { folder_id: folderId } = yield* dam.move({
    workspace,
    assetId: first.id,
    filename: "moved",
    destinationFolderId: undefined
  })
  yield* dam.moveMany({ workspace, assetIds, destinationFolderId: null })
  yield* dam.moveMany({ workspace, assetIds, destinationFolderId: folderId })
  yield* dam.moveEntry({ workspace, source: "a/b/moved", destination: "c/d/again" })
  yield* dam.moveEntry({ workspace, source: "a", destination: "c/e" })
  yield* dam.remove(workspace, assetIds)
})

it.effect("no statement of an operation reads all assets or all folders of a Workspace", layerStore(), function* () {
  const { statements } = yield* statementsOf(operations)
  assert.isAbove(statements.length, 20)
  for (const [text, params] of statements) {
    for (const step of yield* planOf(text, params)) {
      assert.notMatch(step, /SCAN (assets|versions|folders|parents|children)/, text)
      // The newest asset is the first entry of this index.
      if (text.includes("ORDER BY position DESC")) continue
      assert.notMatch(step, /\(workspace=\?\)$/, text)
    }
  }
})

/** The maximum number of rows that statements may read: the sum of their limits. */
const readBy = (statements: ReadonlyArray<readonly [text: string, params: ReadonlyArray<unknown>]>) =>
  statements.reduce((total, [text]) => total + Number(/LIMIT (\d+)$/.exec(text.trim())?.[1] ?? 0), 0)

/** Reads all pages of the list, and returns the number of pages. */
const walk = Effect.fnUntraced(function* (prefix: string, limit: number) {
  const dam = yield* DamStore.DamStore
  let pages = 0
  for (let cursor: string | null | undefined; cursor !== null; pages++) {
    const page = yield* dam.list({ workspace, prefix, cursor, limit })
    cursor = page.nextCursor
  }
  return pages
})

/** Inserts assets in the root, every 300th with a name that begins with `rare`. */
const insert = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const numbers = `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})`
  yield* sql.unsafe(`${numbers}
    INSERT INTO assets (id, workspace, filename, version_id, updated_at, position)
    SELECT printf('%021dA', i), '${workspace}', iif(i % 300 = 0, 'rare', 'many') || i, printf('%021dQ', i), 1, i
    FROM numbers`)
  yield* sql.unsafe(`${numbers}
    INSERT INTO versions (id, asset_id, blob, size, md5hash, sha256, created_at)
    SELECT printf('%021dQ', i), printf('%021dA', i), 'blob', 1, printf('%032d', i), printf('%064d', i), 1
    FROM numbers`)
})

it.effect(
  "a whole walk reads each asset at most twice, with few statements, for any prefix and any limit",
  layerStore(),
  function* () {
    const count = 2400
    yield* insert(count)
    const walks = [
      ["", 7],
      ["", 500],
      ["many", 3],
      ["many1", 100],
      ["rare", 1],
      ["rare", 5],
      ["none", 1],
      ["none", 500]
    ] as const
    for (const [prefix, limit] of walks) {
      const { result: pages, statements } = yield* statementsOf(walk(prefix, limit))
      const name = `${prefix}, ${limit} at a time`
      assert.isAtMost(readBy(statements), 2 * count + 512, name)
      assert.isAtMost(statements.length, 8 * pages + count / 512 + 1, name)
    }
    const { statements } = yield* statementsOf(walk("", 100))
    const [, statement = assert.fail("no statement")] = statements
    const plan = yield* planOf(...statement)
    assert.include(plan, "SEARCH assets USING INDEX assets_by_position (workspace=? AND position>? AND position<?)")
    assert.isEmpty(plan.filter((step) => step.includes("TEMP B-TREE")))
  }
)
