import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `POST /dam/assets/bulk/move`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const MoveMany = Operation.make({
  name: "Dam.moveMany",
  method: "POST",
  path: "/dam/assets/bulk/move",
  variables: {},
  auth: "signed",
  scope: "dam:write",
  carrier: "form",
  nonceIn: "params",
  params: DamEntries.MoveManyRequest,
  fields: Input.nothing,
  answers: "result",
  success: DamEntries.MovedMany,
  errors: {
    DAM_INVALID_REQUEST: ApiError.DamInvalidRequest,
    DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound,
    DAM_MUTATION_CONFLICT: ApiError.DamMutationConflict,
    DAM_MUTATION_FAILED: ApiError.DamMutationFailed
  },
  retry: []
})

/**
 * Moves 1 to 500 assets to the folder `destinationFolderId`, or to the root if `destinationFolderId` is null.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.moveMany({ assetIds: [first, second], destinationFolderId: null })
 *
 * @since 0.1.0
 * @category operations
 */
export const moveMany = (request: DamEntries.MoveManyRequest) =>
  AssemblyClient.use((client) => client.run(MoveMany, { path: {}, params: request, fields: {} }))
