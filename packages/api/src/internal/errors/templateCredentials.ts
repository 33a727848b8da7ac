/**
 * The errors of Template Credentials.
 */
import * as Schema from "effect/Schema"
import { Details, refused } from "./details.ts"

/**
 * TEMPLATE_CREDENTIALS_NOT_FOUND: the Template Credentials could not be listed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotFound
  extends /* @__PURE__ */ Schema.TaggedError<TemplateCredentialsNotFound>()("TemplateCredentialsNotFound", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_READ: the Template Credentials could not be read.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotRead
  extends /* @__PURE__ */ Schema.TaggedError<TemplateCredentialsNotRead>()("TemplateCredentialsNotRead", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_CREATED: the Template Credentials could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotCreated
  extends /* @__PURE__ */ Schema.TaggedError<TemplateCredentialsNotCreated>()("TemplateCredentialsNotCreated", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_UPDATED: the Template Credentials could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotUpdated
  extends /* @__PURE__ */ Schema.TaggedError<TemplateCredentialsNotUpdated>()("TemplateCredentialsNotUpdated", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_DELETED: the Template Credentials could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotDeleted
  extends /* @__PURE__ */ Schema.TaggedError<TemplateCredentialsNotDeleted>()("TemplateCredentialsNotDeleted", Details)
{
  override get message() {
    return refused(this)
  }
}
