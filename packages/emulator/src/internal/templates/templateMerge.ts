import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Json from "../data/json.ts"
import * as Refusal from "../http/refusal.ts"
import * as TemplateStore from "./templateStore.ts"

const stepsDenied = Refusal.refuse(
  "TEMPLATE_DENIES_STEPS_OVERRIDE",
  400,
  "The Template does not allow Steps in the request."
)

/**
 * Merges the params of a request into the Template that their `template_id` names. Params without a `template_id` stay
 * unchanged. The specification defines neither the error codes nor the merge rules, so the emulator follows the
 * official client. Unlike in the official client, a null in a nested object or array of the params does not replace a
 * value of the Template.
 */
export const merge = Effect.fnUntraced(function* (workspace: string, params: Schema.JsonObject) {
  const { steps, template_id: id } = params
  if (typeof id !== "string") return params
  const template = yield* TemplateStore.TemplateStore.use((templates) => templates.byId(workspace, id))
  if (Option.isNone(template)) return yield* TemplateStore.notFound
  const { content } = template.value
  return content.allow_steps_override === false && steps !== undefined
    ? yield* stepsDenied
    : Json.merge(content, params)
})
