import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `PATCH /dam/assets/:assetId`
 *
 * @since 0.1.0
 * @category operations
 */
export const Move = Operation.make({
  name: "Dam.move",
  method: "PATCH",
  path: "/dam/assets/:assetId",
  variables: { assetId: Identifier.AssetId },
  auth: "signed",
  scope: "dam:write",
  carrier: "form",
  nonceIn: "params",
  params: DamAsset.MoveRequest,
  fields: Input.nothing,
  answers: "result",
  success: DamAsset.Moved,
  errors: {
    DAM_INVALID_REQUEST: ApiError.DamInvalidRequest,
    DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound,
    DAM_MUTATION_CONFLICT: ApiError.DamMutationConflict,
    DAM_MUTATION_FAILED: ApiError.DamMutationFailed
  },
  retry: ["DAM_MUTATION_FAILED"]
})

/**
 * Renames an asset, moves it, or both. Without `destinationFolderId` the asset keeps its folder; null moves it to the
 * root.
 *
 * @example Dam.move(assetId, { filename: "report.pdf", destinationFolderId: null })
 *
 * @since 0.1.0
 * @category operations
 */
export const move = (assetId: Identifier.AssetId, request: DamAsset.MoveRequest) =>
  AssemblyClient.use((client) => client.run(Move, { path: { assetId }, params: request, fields: {} }))
