import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `POST /auth_keys`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make({
  name: "AuthKeys.create",
  method: "POST",
  path: "/auth_keys",
  variables: {},
  auth: "signed",
  scope: "auth_keys:write",
  carrier: "form",
  nonceIn: "params",
  params: AuthKey.CreateRequest,
  fields: Input.nothing,
  answers: "result",
  success: AuthKey.Created,
  errors: { AUTH_KEY_NOT_CREATED: ApiError.AuthKeyNotCreated },
  retry: [],
  confidential: Confidential.inResponse
})

/**
 * Creates an Auth Key. The secret of the Auth Key is redacted. Store the secret, because the service shows it again
 * (`AuthKeys.secret`) only if the setting `can_show_auth_secret` permits this. The request is not repeated if the
 * service may have carried it out. If the response is lost, `AuthKeys.list` shows whether the Auth Key exists.
 *
 * Beyond the specification.
 *
 * @example
 * AuthKeys.create({ scope: ["assemblies:read"], description: "dashboard" })
 *
 * @since 0.1.0
 * @category operations
 */
export const create = (request: AuthKey.CreateRequest) =>
  AssemblyClient.use((client) => client.run(Create, { path: {}, params: request, fields: {} }))
