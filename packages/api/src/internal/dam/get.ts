import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /dam/assets/:assetId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make({
  name: "Dam.get",
  method: "GET",
  path: "/dam/assets/:assetId",
  variables: { assetId: Identifier.AssetId },
  auth: "signed",
  scope: "dam:read",
  carrier: "query",
  nonceIn: "params",
  params: DamEntries.GetQuery,
  fields: Input.nothing,
  answers: "result",
  success: DamEntries.Found,
  errors: { DAM_INVALID_REQUEST: ApiError.DamInvalidRequest, DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound },
  retry: "safe"
})

/**
 * Gets an asset. `versionId` selects one stored version of its bytes, by default the current version.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(Dam.get(assetId), ({ asset }) => asset.path)
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (assetId: Identifier.AssetId, query: DamEntries.GetQuery = {}) =>
  AssemblyClient.use((client) => client.run(Get, { path: { assetId }, params: query, fields: {} }))
