import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `GET /template_credentials`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make({
  name: "TemplateCredentials.list",
  method: "GET",
  path: "/template_credentials",
  variables: {},
  auth: "signed",
  scope: "template_credentials:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: TemplateCredential.Listing,
  errors: { TEMPLATE_CREDENTIALS_NOT_FOUND: ApiError.TemplateCredentialsNotFound },
  retry: "safe",
  confidential: Confidential.inResponse
})

/**
 * Lists all Template Credentials. The content of the Template Credentials is redacted.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(TemplateCredentials.list, ({ credentials }) => credentials.map(({ name }) => name))
 *
 * @since 0.1.0
 * @category operations
 */
export const list = AssemblyClient.use((client) => client.run(List, { path: {}, params: {}, fields: {} }))
