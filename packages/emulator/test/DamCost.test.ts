/** Tests that the statements of the DAM use indexes, so that only a list reads all assets of a Workspace. */
import type { Identifier } from "@assembly-effect/schema"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import * as DamStore from "../src/internal/dam/damStore.ts"
import { layerStore, put } from "./assets.ts"
import { planOf } from "./stores.ts"
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

const workspace = "main"

/** Runs all operations of the DAM except the list. */
const operations = Effect.gen(function* () {
  const dam = yield* DamStore.make
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
