import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `POST /dam/entries/move`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const MoveEntry = Operation.make({
  name: "Dam.moveEntry",
  method: "POST",
  path: "/dam/entries/move",
  variables: {},
  auth: "signed",
  scope: "dam:write",
  carrier: "form",
  nonceIn: "params",
  params: DamEntries.MoveEntryRequest,
  fields: Input.nothing,
  answers: "result",
  success: DamEntries.EntryMoved,
  errors: {
    DAM_INVALID_REQUEST: ApiError.DamInvalidRequest,
    DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound,
    DAM_MUTATION_CONFLICT: ApiError.DamMutationConflict,
    DAM_MUTATION_FAILED: ApiError.DamMutationFailed
  },
  retry: []
})

/**
 * Moves an asset or a folder by its path.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.moveEntry({ source: "/inbox/report.pdf", destination: "/reports/2026.pdf" })
 *
 * @since 0.1.0
 * @category operations
 */
export const moveEntry = (request: DamEntries.MoveEntryRequest) =>
  AssemblyClient.use((client) => client.run(MoveEntry, { path: {}, params: request, fields: {} }))
