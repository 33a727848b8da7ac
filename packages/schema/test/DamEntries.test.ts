import * as DamEntries from "@assembly-effect/schema/DamEntries"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

const isValid = (schema: Schema.Top) => Schema.is(schema)

const ids = (count: number) => Array.from({ length: count }, () => "abcdefghijklmnopqrstuA")

describe("a request to the DAM", () => {
  it("lists 1 to 500 assets, a whole number", () => {
    const valid = [0, 1, 1.5, 500, 501].filter((limit) => isValid(DamEntries.ListQuery)({ limit }))
    assert.deepStrictEqual(valid, [1, 500])
  })

  it("changes 1 to 500 assets", () => {
    const counts = [0, 1, 500, 501]
    const moved = counts.filter((count) =>
      isValid(Schema.toType(DamEntries.MoveManyRequest))({ assetIds: ids(count), destinationFolderId: null })
    )
    const deleted = counts.filter((count) =>
      isValid(Schema.toType(DamEntries.DeleteManyRequest))({ assetIds: ids(count) })
    )
    assert.deepStrictEqual(
      [moved, deleted],
      [
        [1, 500],
        [1, 500]
      ]
    )
  })
})
