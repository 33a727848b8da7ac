import * as Operations from "@assembly-effect/api/Dam"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import type * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as DamStatements from "./damStatements.ts"
import * as DamStore from "./damStore.ts"
import type * as Moving from "./moving.ts"
import { type Reason, Refused } from "./refused.ts"

/** The error code and the message for each reason. */
const refusals: Readonly<Record<Reason, readonly [code: NamedError.NamedCode, message: string]>> = {
  AssetNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such asset in this Workspace."],
  EntryNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such asset or folder in this Workspace."],
  FolderNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such folder in this Workspace."],
  IntoItself: ["DAM_INVALID_REQUEST", "Expected a path outside the folder that is moved"],
  NameTaken: ["DAM_MUTATION_CONFLICT", "The folder contains another item with this name."],
  OtherCursor: ["DAM_INVALID_REQUEST", "Expected a next_cursor of this list, with the same prefix"],
  PathTooLong: ["DAM_INVALID_REQUEST", "The path has more than 512 code points or 1024 bytes."],
  Repeated: ["DAM_INVALID_REQUEST", "Expected each asset once"],
  VersionNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such version of this asset."]
}

const refusedAs = ({ path, reason }: Pick<Refused, "path" | "reason">): Refusal.Refusal => {
  const [code, message] = refusals[reason]
  return Refusal.named(code, Refusal.explain([{ path, message }]))
}

const invalid = (issues: Parameters<typeof Refusal.explain>[0]) =>
  Refusal.named("DAM_INVALID_REQUEST", Refusal.explain(issues))

/** Converts the error `Refused` of the DAM to a refusal. */
const reading = <A>(work: Effect.Effect<A, Refused | StorageFailed>) =>
  Effect.catchTag(work, "DamRefused", (refused) => Effect.fail(refusedAs(refused)))

/**
 * Converts the errors of a change to refusals. If the disk fails, nothing is changed, and the error code is
 * `DAM_MUTATION_FAILED`, which spec.md defines for a change that could not be completed.
 */
const changing = <A>(work: Effect.Effect<A, Refused | StorageFailed>) =>
  reading(work).pipe(
    Effect.catchTag("StorageFailed", (failed) =>
      Effect.andThen(
        Effect.logError(`The DAM was not changed: ${failed.message}`),
        Effect.fail(Refusal.named("DAM_MUTATION_FAILED", `The emulator cannot store: ${failed.description}.`))
      )
    )
  )

const timestamp = (instant: DateTime.Utc) => ({ text: DateTime.formatIso(instant), instant })

const moved = ({ asset, filename, folderId, updatedAt }: Moving.Placed) => ({
  asset,
  asset_id: asset.asset_id,
  folder_id: folderId,
  filename,
  path: asset.path,
  deleted_at: null,
  updated_at: timestamp(updatedAt)
})

/** The number of assets on a page if the request does not contain `limit`. */
const defaultLimit = 100

const routes = Effect.gen(function* () {
  const dam = yield* DamStore.DamStore

  return yield* Effect.all([
    Route.signed(Operations.Get, {
      invalid,
      handle: ({ authKey, params, path }) =>
        dam.get(authKey.workspace, path.assetId, params.versionId).pipe(
          Effect.map((asset) => ({ ok: "DAM_ASSET_FOUND", message: "The asset was found.", asset }) as const),
          reading
        )
    }),
    Route.signed(Operations.List, {
      invalid,
      handle: ({ authKey: { workspace }, params: { cursor, limit = defaultLimit, prefix = "" } }) =>
        dam.list({ workspace, prefix, cursor, limit }).pipe(
          Effect.map(
            ({ assets, nextCursor }) =>
              ({
                ok: "DAM_ASSETS_LISTED",
                message: "The assets were listed.",
                workspace,
                assets: assets.map(DamStatements.toAsset),
                next_cursor: nextCursor === null ? null : DamEntries.Cursor.make(nextCursor)
              }) as const
          ),
          reading
        )
    }),
    Route.signed(Operations.Move, {
      invalid,
      handle: ({ authKey, params, path }) =>
        dam
          .move({
            workspace: authKey.workspace,
            assetId: path.assetId,
            filename: "filename" in params ? params.filename : undefined,
            destinationFolderId: params.destinationFolderId
          })
          .pipe(
            Effect.map(
              (placed) => ({ ok: "DAM_ASSET_MOVED", message: "The asset was moved.", ...moved(placed) }) as const
            ),
            changing
          )
    }),
    Route.signed(Operations.MoveMany, {
      invalid,
      handle: ({ authKey, params }) =>
        dam.moveMany({ ...params, workspace: authKey.workspace }).pipe(
          Effect.map(
            (all) => ({ ok: "DAM_ASSETS_MOVED", message: "The assets were moved.", assets: all.map(moved) }) as const
          ),
          changing
        )
    }),
    Route.signed(Operations.MoveEntry, {
      invalid,
      handle: ({ authKey, params }) =>
        dam.moveEntry({ ...params, workspace: authKey.workspace }).pipe(
          Effect.map((path) => ({ ok: "DAM_ENTRY_MOVED", message: "The entry was moved.", path }) as const),
          changing
        )
    }),
    Route.signed(Operations.Delete, {
      invalid,
      handle: ({ authKey, path: { assetId } }) =>
        dam.remove(authKey.workspace, [assetId]).pipe(
          Effect.map(
            (now) =>
              ({
                ok: "DAM_ASSET_DELETED",
                message: "The asset was deleted.",
                asset_id: assetId,
                deleted_at: timestamp(now)
              }) as const
          ),
          // The request names one asset, so the error needs no path into a list of assets.
          Effect.catchTag("DamRefused", ({ reason }) => Effect.fail(new Refused({ reason, path: [] }))),
          changing
        )
    }),
    Route.signed(Operations.DeleteMany, {
      invalid,
      handle: ({ authKey, params: { assetIds } }) =>
        dam.remove(authKey.workspace, assetIds).pipe(
          Effect.map(
            (now) =>
              ({
                ok: "DAM_ASSETS_DELETED",
                message: "The assets were deleted.",
                assets: assetIds.map((asset_id) => ({ asset_id, deleted_at: timestamp(now) }))
              }) as const
          ),
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
