import * as Operations from "@assembly-effect/api/Assemblies"
import * as ApiError from "@assembly-effect/api/ApiError"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { StorageFailed } from "../EmulatorError.ts"
import type * as Limits from "../Limits.ts"
import * as CreationOptions from "./CreationOptions.ts"
import * as Json from "./Json.ts"
import * as Refusal from "./Refusal.ts"
import * as TemplateStore from "./TemplateStore.ts"
import * as Turns from "./Turns.ts"

/** What an Assembly is to do. */
export interface Instructions {
  readonly params: Assembly.CreateParams
  readonly options: CreationOptions.CreationOptions
}

const stepsDenied = new Refusal.Refusal({
  code: "TEMPLATE_DENIES_STEPS_OVERRIDE",
  status: 400,
  message: "The Template takes no Steps of a request."
})

const tooManySteps = ({ steps }: Limits.Values) =>
  new Refusal.Refusal({
    code: "ASSEMBLY_INVALID_STEPS",
    status: 400,
    message: `An Assembly has at most ${steps} Steps.`
  })

const countOf = (steps: Schema.Json | undefined): number => (Predicate.isObject(steps) ? Object.keys(steps).length : 0)

const decodeParams = SchemaParser.decodeUnknownEffect(Operations.Create.params, { errors: "all" })

const withTemplate = Effect.fnUntraced(function* (workspace: string, params: Schema.JsonObject) {
  const { steps, template_id: id } = params
  if (typeof id !== "string") return params
  const template = yield* TemplateStore.TemplateStore.use((templates) => templates.byId(workspace, id))
  if (Option.isNone(template)) return yield* TemplateStore.notFound
  const { content } = template.value
  return content.allow_steps_override === false && steps !== undefined
    ? yield* stepsDenied
    : Json.merge(content, params)
})

/**
 * What the params of a request ask for, on top of what their Template says. Codes and the way of merging are beyond the
 * specification: they are those of the service's own client.
 */
export const read: (
  workspace: string,
  params: Schema.JsonObject,
  limits: Limits.Values
) => Effect.Effect<Instructions, Refusal.Refusal | StorageFailed, TemplateStore.TemplateStore | Turns.Turns> =
  Effect.fnUntraced(function* (workspace, params, limits) {
    const { share } = yield* Turns.Turns
    const merged = Json.withoutNulls(yield* withTemplate(workspace, params))
    // Before anything looks at each of them.
    if (countOf(merged["steps"]) > limits.steps) return yield* tooManySteps(limits)
    return {
      params: yield* share(decodeParams(merged)).pipe(
        Effect.mapError((issue) => Refusal.invalidForm(ApiError.fromSchemaIssue(issue)))
      ),
      options: yield* share(CreationOptions.read(merged))
    }
  })
