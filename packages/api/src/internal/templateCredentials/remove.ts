import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `DELETE /template_credentials/:credentialId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make({
  name: "TemplateCredentials.delete",
  method: "DELETE",
  path: "/template_credentials/:credentialId",
  variables: { credentialId: TemplateCredential.CredentialId },
  auth: "signed",
  scope: "template_credentials:write",
  carrier: "form",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: TemplateCredential.Deleted,
  errors: { TEMPLATE_CREDENTIALS_NOT_DELETED: ApiError.TemplateCredentialsNotDeleted },
  retry: []
})

/**
 * Deletes Template Credentials. After the deletion, Steps can no longer name these credentials.
 *
 * Beyond the specification.
 *
 * @example
 * TemplateCredentials.delete(credentialsId)
 *
 * @since 0.1.0
 * @category operations
 */
export const remove = (credentialId: TemplateCredential.CredentialId) =>
  AssemblyClient.use((client) => client.run(Delete, { path: { credentialId }, params: {}, fields: {} }))
