import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `GET /template_credentials/:credentialId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make({
  name: "TemplateCredentials.get",
  method: "GET",
  path: "/template_credentials/:credentialId",
  variables: { credentialId: TemplateCredential.CredentialId },
  auth: "signed",
  scope: "template_credentials:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: TemplateCredential.Found,
  errors: { TEMPLATE_CREDENTIALS_NOT_READ: ApiError.TemplateCredentialsNotRead },
  retry: "safe",
  confidential: Confidential.inResponse
})

/**
 * Gets Template Credentials. The content of the Template Credentials is redacted.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(TemplateCredentials.get(credentialsId), ({ credential }) => credential.content)
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (credentialId: TemplateCredential.CredentialId) =>
  AssemblyClient.use((client) => client.run(Get, { path: { credentialId }, params: {}, fields: {} }))
