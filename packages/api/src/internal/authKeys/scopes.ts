import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /auth_keys/scopes`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Scopes = Operation.make({
  name: "AuthKeys.scopes",
  method: "GET",
  path: "/auth_keys/scopes",
  variables: {},
  auth: "signed",
  scope: "auth_keys:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: AuthKey.ScopeListing,
  errors: {},
  retry: "safe"
})

/**
 * Lists the scopes that an Auth Key may have.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(AuthKeys.scopes, ({ scopes }) => scopes)
 *
 * @since 0.1.0
 * @category operations
 */
export const scopes = AssemblyClient.use((client) => client.run(Scopes, { path: {}, params: {}, fields: {} }))
