import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Confidential from "../confidential.ts"

/**
 * `POST /template_credentials`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make({
  name: "TemplateCredentials.create",
  method: "POST",
  path: "/template_credentials",
  variables: {},
  auth: "signed",
  scope: "template_credentials:write",
  carrier: "form",
  nonceIn: "params",
  params: TemplateCredential.CreateRequest,
  fields: Input.nothing,
  answers: "result",
  success: TemplateCredential.Created,
  errors: { TEMPLATE_CREDENTIALS_NOT_CREATED: ApiError.TemplateCredentialsNotCreated },
  retry: [],
  confidential: Confidential.inContent
})

/**
 * Creates Template Credentials. The content is redacted. No error repeats a text of at least 4 characters in the
 * content.
 *
 * Beyond the specification.
 *
 * @example
 * TemplateCredentials.create({ name: "photos", type: "s3", content: Redacted.make({ key: "…", secret: "…" }) })
 *
 * @since 0.1.0
 * @category operations
 */
export const create = (request: TemplateCredential.CreateRequest) =>
  AssemblyClient.use((client) => client.run(Create, { path: {}, params: request, fields: {} }))
