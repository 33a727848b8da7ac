/**
 * The errors of Auth Keys.
 */
import * as Schema from "effect/Schema"
import { Details, refused } from "./details.ts"

/**
 * AUTH_KEY_NOT_CREATED: the Auth Key could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotCreated
  extends /* @__PURE__ */ Schema.TaggedError<AuthKeyNotCreated>()("AuthKeyNotCreated", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * AUTH_KEY_NOT_UPDATED: the Auth Key could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotUpdated
  extends /* @__PURE__ */ Schema.TaggedError<AuthKeyNotUpdated>()("AuthKeyNotUpdated", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * AUTH_KEY_NOT_DELETED: the Auth Key could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotDeleted
  extends /* @__PURE__ */ Schema.TaggedError<AuthKeyNotDeleted>()("AuthKeyNotDeleted", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * AUTH_SECRET_NOT_RETRIEVED: the secret of the Auth Key cannot be shown.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthSecretNotRetrieved
  extends /* @__PURE__ */ Schema.TaggedError<AuthSecretNotRetrieved>()("AuthSecretNotRetrieved", Details)
{
  override get message() {
    return refused(this)
  }
}
