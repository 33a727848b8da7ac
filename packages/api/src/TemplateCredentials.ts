/**
 * Operations of Template Credentials. These operations are beyond the specification, which names all of them except
 * `types`, and defines none of them.
 *
 * The index does not export this module:
 * `import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"`.
 */
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import type * as Schema from "effect/Schema"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"

/** A shorter text does not count as a secret, because its removal would damage ordinary words in errors. */
const minLength = 4

/** All texts in a JSON value that are long enough to be secrets, without the keys of objects. */
const textsIn = (value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < minLength ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((part) => textsIn(part)) : []
}

/** The texts in `content` are secrets, in the params of an operation and in its response. */
const confidential = ({ content }: Schema.JsonObject): ReadonlyArray<string> => textsIn(content)

/**
 * `POST /template_credentials`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make("TemplateCredentials.create", "POST /template_credentials", {
  scope: "template_credentials:write",
  params: TemplateCredential.CreateRequest,
  success: TemplateCredential.Created,
  errors: { TEMPLATE_CREDENTIALS_NOT_CREATED: ApiError.TemplateCredentialsNotCreated },
  confidential
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
export const create = (request: TemplateCredential.CreateRequest) => Operation.run(Create, {}, request)

/**
 * `GET /template_credentials/:credentialId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make("TemplateCredentials.get", "GET /template_credentials/:credentialId", {
  variables: { credentialId: TemplateCredential.CredentialId },
  scope: "template_credentials:read",
  success: TemplateCredential.Found,
  errors: { TEMPLATE_CREDENTIALS_NOT_READ: ApiError.TemplateCredentialsNotRead },
  confidential
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
export const get = (credentialId: TemplateCredential.CredentialId) => Operation.run(Get, { credentialId }, {})

/**
 * `GET /template_credentials`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("TemplateCredentials.list", "GET /template_credentials", {
  scope: "template_credentials:read",
  success: TemplateCredential.Listing,
  errors: { TEMPLATE_CREDENTIALS_NOT_FOUND: ApiError.TemplateCredentialsNotFound },
  confidential
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
export const list = Operation.run(List, {}, {})

/**
 * `DELETE /template_credentials/:credentialId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make("TemplateCredentials.delete", "DELETE /template_credentials/:credentialId", {
  variables: { credentialId: TemplateCredential.CredentialId },
  scope: "template_credentials:write",
  success: TemplateCredential.Deleted,
  errors: { TEMPLATE_CREDENTIALS_NOT_DELETED: ApiError.TemplateCredentialsNotDeleted }
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
const remove = (credentialId: TemplateCredential.CredentialId) => Operation.run(Delete, { credentialId }, {})

/**
 * `GET /template_credentials/types`. The operation is beyond the specification, which does not name it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Types = Operation.make("TemplateCredentials.types", "GET /template_credentials/types", {
  scope: "template_credentials:read",
  success: TemplateCredential.TypeListing
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
export const types = Operation.run(Types, {}, {})

/**
 * `PUT /template_credentials/:credentialId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Update = Operation.make("TemplateCredentials.update", "PUT /template_credentials/:credentialId", {
  variables: { credentialId: TemplateCredential.CredentialId },
  scope: "template_credentials:write",
  params: TemplateCredential.UpdateRequest,
  success: TemplateCredential.Updated,
  errors: { TEMPLATE_CREDENTIALS_NOT_UPDATED: ApiError.TemplateCredentialsNotUpdated },
  confidential
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
  Operation.run(Update, { credentialId }, request)

export { remove as delete }
