/**
 * Operations of Auth Keys. These operations are beyond the specification, which names them but does not define them.
 *
 * The index does not export this module: `import * as AuthKeys from "@assembly-effect/api/AuthKeys"`.
 */
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"

/** The secrets are in the responses only: no param is a secret. */
const confidential = (): ReadonlyArray<string> => []

/**
 * `POST /auth_keys`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make("AuthKeys.create", "POST /auth_keys", {
  scope: "auth_keys:write",
  params: AuthKey.CreateRequest,
  success: AuthKey.Created,
  errors: { AUTH_KEY_NOT_CREATED: ApiError.AuthKeyNotCreated },
  confidential
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
export const create = (request: AuthKey.CreateRequest) => Operation.run(Create, {}, request)

/**
 * `GET /auth_keys`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("AuthKeys.list", "GET /auth_keys", {
  scope: "auth_keys:read",
  success: AuthKey.Listing,
  confidential
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
export const list = Operation.run(List, {}, {})

/**
 * `DELETE /auth_keys/:authKeyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make("AuthKeys.delete", "DELETE /auth_keys/:authKeyId", {
  variables: { authKeyId: AuthKey.AuthKeyId },
  scope: "auth_keys:write",
  success: AuthKey.Deleted,
  errors: { AUTH_KEY_NOT_DELETED: ApiError.AuthKeyNotDeleted }
})

/**
 * Deletes an Auth Key. The service then refuses requests with this Auth Key.
 *
 * Beyond the specification.
 *
 * @example
 * AuthKeys.delete(authKeyId)
 *
 * @since 0.1.0
 * @category operations
 */
const remove = (authKeyId: AuthKey.AuthKeyId) => Operation.run(Delete, { authKeyId }, {})

/**
 * `GET /auth_keys/scopes`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Scopes = Operation.make("AuthKeys.scopes", "GET /auth_keys/scopes", {
  scope: "auth_keys:read",
  success: AuthKey.ScopeListing
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
export const scopes = Operation.run(Scopes, {}, {})

/**
 * `POST /auth_keys/show_secret/:authKeyId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Secret = Operation.make("AuthKeys.secret", "POST /auth_keys/show_secret/:authKeyId", {
  variables: { authKeyId: AuthKey.AuthKeyId },
  scope: "auth_keys:write",
  success: AuthKey.Shown,
  errors: { AUTH_SECRET_NOT_RETRIEVED: ApiError.AuthSecretNotRetrieved },
  confidential
})

/**
 * Gets the secret of an Auth Key whose setting `can_show_auth_secret` permits this. The secret is redacted. It is not
 * documented whether the service requires the scope `auth_keys:read` or `auth_keys:write`, so the operation requests
 * `auth_keys:write`.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(AuthKeys.secret(authKeyId), ({ auth_secret }) => Redacted.value(auth_secret))
 *
 * @since 0.1.0
 * @category operations
 */
export const secret = (authKeyId: AuthKey.AuthKeyId) => Operation.run(Secret, { authKeyId }, {})

/**
 * `PUT /auth_keys/:authKeyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Update = Operation.make("AuthKeys.update", "PUT /auth_keys/:authKeyId", {
  variables: { authKeyId: AuthKey.AuthKeyId },
  scope: "auth_keys:write",
  params: AuthKey.UpdateRequest,
  success: AuthKey.Updated,
  errors: { AUTH_KEY_NOT_UPDATED: ApiError.AuthKeyNotUpdated },
  confidential
})

/**
 * Changes an Auth Key. A field that is absent from the request keeps its value.
 *
 * Beyond the specification.
 *
 * @example
 * AuthKeys.update(authKeyId, { scope: ["read"], canShowAuthSecret: false })
 *
 * @since 0.1.0
 * @category operations
 */
export const update = (authKeyId: AuthKey.AuthKeyId, request: AuthKey.UpdateRequest) =>
  Operation.run(Update, { authKeyId }, request)

export { remove as delete }
