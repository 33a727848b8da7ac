import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `DELETE /dam/assets/:assetId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make({
  name: "Dam.delete",
  method: "DELETE",
  path: "/dam/assets/:assetId",
  variables: { assetId: Identifier.AssetId },
  auth: "signed",
  scope: "dam:write",
  carrier: "form",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: DamEntries.Deleted,
  errors: {
    DAM_INVALID_REQUEST: ApiError.DamInvalidRequest,
    DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound,
    DAM_MUTATION_CONFLICT: ApiError.DamMutationConflict,
    DAM_MUTATION_FAILED: ApiError.DamMutationFailed
  },
  retry: []
})

/**
 * Deletes an asset.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.delete(assetId)
 *
 * @since 0.1.0
 * @category operations
 */
export const remove = (assetId: Identifier.AssetId) =>
  AssemblyClient.use((client) => client.run(Delete, { path: { assetId }, params: {}, fields: {} }))
