import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `PUT /template_credentials/:credentialId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Update = Operation.make({
  name: "TemplateCredentials.update",
  method: "PUT",
  path: "/template_credentials/:credentialId",
  variables: { credentialId: TemplateCredential.CredentialId },
  auth: "signed",
  scope: "template_credentials:write",
  carrier: "form",
  nonceIn: "params",
  params: TemplateCredential.UpdateRequest,
  fields: Input.nothing,
  answers: "result",
  success: TemplateCredential.Updated,
  errors: { TEMPLATE_CREDENTIALS_NOT_UPDATED: ApiError.TemplateCredentialsNotUpdated },
  retry: [],
  confidential: Confidential.inContent
})

/**
 * Changes Template Credentials. Without `content`, the secrets do not change.
 *
 * Beyond the specification.
 *
 * @example
 * TemplateCredentials.update(credentialsId, { name: "pictures", type: "s3" })
 *
 * @since 0.1.0
 * @category operations
 */
export const update = (credentialId: TemplateCredential.CredentialId, request: TemplateCredential.UpdateRequest) =>
  AssemblyClient.use((client) => client.run(Update, { path: { credentialId }, params: request, fields: {} }))
