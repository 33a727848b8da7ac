import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `PUT /auth_keys/:authKeyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Update = Operation.make({
  name: "AuthKeys.update",
  method: "PUT",
  path: "/auth_keys/:authKeyId",
  variables: { authKeyId: AuthKey.AuthKeyId },
  auth: "signed",
  scope: "auth_keys:write",
  carrier: "form",
  nonceIn: "params",
  params: AuthKey.UpdateRequest,
  fields: Input.nothing,
  answers: "result",
  success: AuthKey.Updated,
  errors: { AUTH_KEY_NOT_UPDATED: ApiError.AuthKeyNotUpdated },
  retry: [],
  confidential: Confidential.inResponse
})

/**
 * Changes an Auth Key. A field that is absent from the request keeps its value.
 *
 * Beyond the specification.
 *
 * @example
 * AuthKeys.update(authKeyId, { scope: ["read"], canShowAuthSecret: false })
 *
 * @since 0.1.0
 * @category operations
 */
export const update = (authKeyId: AuthKey.AuthKeyId, request: AuthKey.UpdateRequest) =>
  AssemblyClient.use((client) => client.run(Update, { path: { authKeyId }, params: request, fields: {} }))
