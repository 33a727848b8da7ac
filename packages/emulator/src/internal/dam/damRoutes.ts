import * as Operations from "@assembly-effect/api/Dam"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as DamStatements from "./damStatements.ts"
import * as DamStore from "./damStore.ts"
import { refuse } from "./rules.ts"

/**
 * Refuses a change if the disk fails. Nothing is changed then, and the error code is `DAM_MUTATION_FAILED`, which spec.md
 * defines for a change that could not be completed.
 */
const changing = <A>(work: Effect.Effect<A, Refusal.Refusal | StorageFailed>) =>
  Effect.catchTag(work, "StorageFailed", (failed) =>
    Effect.andThen(
      Effect.logError(`The DAM was not changed: ${failed.message}`),
      Effect.fail(Refusal.named("DAM_MUTATION_FAILED", `The emulator cannot store: ${failed.description}.`))
    )
  )

/** The number of assets on a page if the request does not contain `limit`. */
const defaultLimit = 100

const routes = Effect.gen(function* () {
  const dam = yield* DamStore.make

  return yield* Effect.all([
    Route.signed(Operations.Get, {
      handle: ({ authKey, params, path }) =>
        Effect.map(dam.get(authKey.workspace, path.assetId, params.versionId), (asset) =>
          Route.success("DAM_ASSET_FOUND", "The asset was found.", { asset })
        )
    }),
    Route.signed(Operations.List, {
      handle: ({ authKey: { workspace }, params: { cursor, limit = defaultLimit, prefix = "" } }) =>
        Effect.map(dam.list({ workspace, prefix, cursor, limit }), ({ assets, nextCursor }) =>
          Route.success("DAM_ASSETS_LISTED", "The assets were listed.", {
            workspace,
            assets: assets.map(DamStatements.toAsset),
            next_cursor: nextCursor === null ? null : DamEntries.Cursor.make(nextCursor)
          })
        )
    }),
    Route.signed(Operations.Move, {
      handle: ({ authKey: { workspace }, params, path: { assetId } }) => {
        const filename = "filename" in params ? params.filename : undefined
        return dam.move({ workspace, assetId, filename, destinationFolderId: params.destinationFolderId }).pipe(
          Effect.map((moved) => Route.success("DAM_ASSET_MOVED", "The asset was moved.", moved)),
          changing
        )
      }
    }),
    Route.signed(Operations.MoveMany, {
      handle: ({ authKey: { workspace }, params }) =>
        dam.moveMany({ ...params, workspace }).pipe(
          Effect.map((assets) => Route.success("DAM_ASSETS_MOVED", "The assets were moved.", { assets })),
          changing
        )
    }),
    Route.signed(Operations.MoveEntry, {
      handle: ({ authKey: { workspace }, params }) =>
        dam.moveEntry({ ...params, workspace }).pipe(
          Effect.map((path) => Route.success("DAM_ENTRY_MOVED", "The entry was moved.", { path })),
          changing
        )
    }),
    Route.signed(Operations.Delete, {
      handle: ({ authKey, path: { assetId } }) =>
        dam.remove(authKey.workspace, [assetId]).pipe(
          // The request names one asset, so the error needs no path into a list of assets.
          Effect.catchTag("Refusal", () => Effect.fail(refuse("AssetNotFound"))),
          Effect.map((deleted_at) =>
            Route.success("DAM_ASSET_DELETED", "The asset was deleted.", { asset_id: assetId, deleted_at })
          ),
          changing
        )
    }),
    Route.signed(Operations.DeleteMany, {
      handle: ({ authKey, params: { assetIds } }) =>
        dam.remove(authKey.workspace, assetIds).pipe(
          Effect.map((deleted_at) => assetIds.map((asset_id) => ({ asset_id, deleted_at }))),
          Effect.map((assets) => Route.success("DAM_ASSETS_DELETED", "The assets were deleted.", { assets })),
          changing
        )
    })
  ])
})

/**
 * The routes under `/dam`. The specification defines the move of one asset. It names the other operations, but does not
 * define them.
 */
export const layer = HttpRouter.addAll(routes)
