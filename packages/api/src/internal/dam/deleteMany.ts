import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `POST /dam/assets/bulk/delete`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const DeleteMany = Operation.make({
  name: "Dam.deleteMany",
  method: "POST",
  path: "/dam/assets/bulk/delete",
  variables: {},
  auth: "signed",
  scope: "dam:write",
  carrier: "form",
  nonceIn: "params",
  params: DamEntries.DeleteManyRequest,
  fields: Input.nothing,
  answers: "result",
  success: DamEntries.DeletedMany,
  errors: {
    DAM_INVALID_REQUEST: ApiError.DamInvalidRequest,
    DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound,
    DAM_MUTATION_CONFLICT: ApiError.DamMutationConflict,
    DAM_MUTATION_FAILED: ApiError.DamMutationFailed
  },
  retry: []
})

/**
 * Deletes 1 to 500 assets.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.deleteMany({ assetIds: [first, second] })
 *
 * @since 0.1.0
 * @category operations
 */
export const deleteMany = (request: DamEntries.DeleteManyRequest) =>
  AssemblyClient.use((client) => client.run(DeleteMany, { path: {}, params: request, fields: {} }))
