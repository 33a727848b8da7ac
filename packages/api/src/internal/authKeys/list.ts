import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `GET /auth_keys`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make({
  name: "AuthKeys.list",
  method: "GET",
  path: "/auth_keys",
  variables: {},
  auth: "signed",
  scope: "auth_keys:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: AuthKey.Listing,
  errors: {},
  retry: "safe",
  confidential: Confidential.inResponse
})

/**
 * Lists the Auth Keys of the Workspace.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(AuthKeys.list, ({ auth_keys }) => auth_keys.filter(({ is_active }) => is_active))
 *
 * @since 0.1.0
 * @category operations
 */
export const list = AssemblyClient.use((client) => client.run(List, { path: {}, params: {}, fields: {} }))
