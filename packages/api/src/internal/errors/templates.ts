/**
 * The errors of Templates.
 */
import * as Schema from "effect/Schema"
import { Details, refused } from "./details.ts"

/**
 * TEMPLATE_LIST_ERROR: the service returned an error instead of a list.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateListFailed
  extends /* @__PURE__ */ Schema.TaggedError<TemplateListFailed>()("TemplateListFailed", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_NOT_FOUND: no Template has this id or name.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateNotFound
  extends /* @__PURE__ */ Schema.TaggedError<TemplateNotFound>()("TemplateNotFound", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_VALIDATION_ERROR: a setting or the content of the Template is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateInvalid extends /* @__PURE__ */ Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", Details) {
  override get message() {
    return refused(this)
  }
}
