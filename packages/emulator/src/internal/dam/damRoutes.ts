import * as Operations from "@assembly-effect/api/Dam"
import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as DamStore from "./damStore.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"

const refusals: Readonly<Record<DamStore.Problem, Refusal.Refusal>> = {
  AssetNotFound: Refusal.named("DAM_RESOURCE_NOT_FOUND", "There is no such asset in this Workspace."),
  FolderNotFound: Refusal.named("DAM_RESOURCE_NOT_FOUND", "There is no such folder in this Workspace."),
  NameTaken: Refusal.named("DAM_MUTATION_CONFLICT", "The folder contains another item with this name."),
  PathTooLong: Refusal.named("DAM_INVALID_REQUEST", "The path has more than 512 code points or 1024 bytes.")
}

const toMoved = ({ asset, filename, folderId, updatedAt }: DamStore.Placed): DamAsset.Moved => ({
  ok: "DAM_ASSET_MOVED",
  message: "The asset was moved.",
  asset,
  asset_id: asset.asset_id,
  folder_id: folderId,
  filename,
  path: asset.path,
  deleted_at: null,
  updated_at: { text: DateTime.formatIso(updatedAt), instant: updatedAt }
})

const routes = Effect.gen(function* () {
  const dam = yield* DamStore.DamStore

  return yield* Effect.all([
    Route.signed(Operations.Move, {
      invalid: (issues) => Refusal.named("DAM_INVALID_REQUEST", Refusal.explain(issues)),
      handle: ({ authKey, params, path }) =>
        dam
          .move({
            workspace: authKey.workspace,
            assetId: path.assetId,
            filename: "filename" in params ? params.filename : undefined,
            destinationFolderId: params.destinationFolderId
          })
          .pipe(
            Effect.map(toMoved),
            Effect.mapError((problem) => (typeof problem === "string" ? refusals[problem] : problem))
          )
    })
  ])
})

/** The routes under `/dam`. */
export const layer = HttpRouter.addAll(routes)
