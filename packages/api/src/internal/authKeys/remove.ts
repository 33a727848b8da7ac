import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `DELETE /auth_keys/:authKeyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make({
  name: "AuthKeys.delete",
  method: "DELETE",
  path: "/auth_keys/:authKeyId",
  variables: { authKeyId: AuthKey.AuthKeyId },
  auth: "signed",
  scope: "auth_keys:write",
  carrier: "form",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: AuthKey.Deleted,
  errors: { AUTH_KEY_NOT_DELETED: ApiError.AuthKeyNotDeleted },
  retry: []
})

/**
 * Deletes an Auth Key. The service then refuses requests with this Auth Key.
 *
 * Beyond the specification.
 *
 * @example
 * AuthKeys.delete(authKeyId)
 *
 * @since 0.1.0
 * @category operations
 */
export const remove = (authKeyId: AuthKey.AuthKeyId) =>
  AssemblyClient.use((client) => client.run(Delete, { path: { authKeyId }, params: {}, fields: {} }))
