import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `POST /auth_keys/show_secret/:authKeyId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Secret = Operation.make({
  name: "AuthKeys.secret",
  method: "POST",
  path: "/auth_keys/show_secret/:authKeyId",
  variables: { authKeyId: AuthKey.AuthKeyId },
  auth: "signed",
  scope: "auth_keys:write",
  carrier: "form",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: AuthKey.Shown,
  errors: { AUTH_SECRET_NOT_RETRIEVED: ApiError.AuthSecretNotRetrieved },
  retry: [],
  confidential: Confidential.inResponse
})

/**
 * Gets the secret of an Auth Key whose setting `can_show_auth_secret` permits this. The secret is redacted. It is not
 * documented whether the service requires the scope `auth_keys:read` or `auth_keys:write`, so the operation requests
 * `auth_keys:write`.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(AuthKeys.secret(authKeyId), ({ auth_secret }) => Redacted.value(auth_secret))
 *
 * @since 0.1.0
 * @category operations
 */
export const secret = (authKeyId: AuthKey.AuthKeyId) =>
  AssemblyClient.use((client) => client.run(Secret, { path: { authKeyId }, params: {}, fields: {} }))
