/**
 * Templates: instructions that are stored in a Workspace, so that a request can name a Template instead of sending the
 * instructions (spec.md, "What the service does"). The details are beyond the specification, which mentions only the
 * id and the `max_size` of a Template, and names the operations.
 */
import * as Content from "@assembly-effect/schema/Template"
import * as Schema from "effect/Schema"

/**
 * Statistics use these two names as filters (spec.md, "Retrieve Assembly statistics"), so no Template may have one of
 * these names as its id.
 */
const reserved = new Set(["all", "no_template"])

/**
 * A Template for an emulator. Requests name the Template by its `id`. The routes of Templates also accept the `name` of
 * the Template, which is the `id` by default.
 *
 * The params of a request are merged into the `content`: objects by key, arrays by index. A value in the request takes
 * precedence, unless it is null. If `allow_steps_override` is false, requests that have `steps` are refused
 * (`TEMPLATE_DENIES_STEPS_OVERRIDE`). The Steps of the `content` follow the rules of `Instructions.make` in
 * `@assembly-effect/schema`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Template = Schema.Struct({
  id: Content.IdOrName.check(
    Schema.makeFilter((id) => !reserved.has(id), { expected: "an id that is not reserved for statistics" })
  ),
  name: Schema.optionalKey(Content.IdOrName),
  content: Content.Content
})
/**
 * @since 0.1.0
 * @category models
 */
export type Template = typeof Template.Type
