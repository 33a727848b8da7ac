import type * as Identifier from "@assembly-effect/schema/Identifier"
import * as Effect from "effect/Effect"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as DamStatements from "./damStatements.ts"
import { refuse, type Refused } from "./refused.ts"

/**
 * The index of the first value that is equal to an earlier value. The result is undefined if each value occurs once.
 */
export const firstRepeated = (values: ReadonlyArray<string>): number | undefined => {
  const seen = new Set<string>()
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) return index
    seen.add(value)
  }
  return undefined
}

/** Finds all assets of a bulk request, in the order of `ids`. An unknown or a repeated id is refused. */
export const find = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  workspace: string,
  ids: ReadonlyArray<Identifier.AssetId>
): Effect.fn.Return<ReadonlyArray<DamStatements.AssetRow>, Refused | StorageFailed> {
  const repeated = firstRepeated(ids)
  if (repeated !== undefined) return yield* refuse("Repeated", ["asset_ids", repeated])
  const known = new Map((yield* sql.assets(workspace, ids)).map((row) => [row.id, row]))
  const rows: Array<DamStatements.AssetRow> = []
  for (const [index, id] of ids.entries()) {
    const row = known.get(id)
    if (row === undefined) return yield* refuse("AssetNotFound", ["asset_ids", index])
    rows.push(row)
  }
  return rows
})
