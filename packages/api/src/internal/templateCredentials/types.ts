import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /template_credentials/types`. The operation is beyond the specification, which does not name it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Types = Operation.make({
  name: "TemplateCredentials.types",
  method: "GET",
  path: "/template_credentials/types",
  variables: {},
  auth: "signed",
  scope: "template_credentials:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: TemplateCredential.TypeListing,
  errors: {},
  retry: "safe"
})

/**
 * Lists the types of credentials with their fields.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(TemplateCredentials.types, ({ types }) => types["s3"]?.fields)
 *
 * @since 0.1.0
 * @category operations
 */
export const types = AssemblyClient.use((client) => client.run(Types, { path: {}, params: {}, fields: {} }))
