import * as Operations from "@assembly-effect/api/Assemblies"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Limits from "../../Limits.ts"
import * as CreationOptions from "./creationOptions.ts"
import * as Json from "../data/json.ts"
import * as Turns from "../http/turns.ts"
import * as Refusal from "../http/refusal.ts"
import * as UsedCredentials from "../templateCredentials/usedCredentials.ts"
import * as TemplateMerge from "../templates/templateMerge.ts"

const tooManySteps = ({ steps }: Limits.Values) =>
  Refusal.refuse("ASSEMBLY_INVALID_STEPS", 400, `An Assembly has at most ${steps} Steps.`)

const countOf = (steps: Schema.Json | undefined): number => (Predicate.isObject(steps) ? Object.keys(steps).length : 0)

const decodeParams = SchemaParser.decodeUnknownEffect(Operations.Create.params, { errors: "all" })

/**
 * Merges the params of a request into their Template and decodes the result. Refuses Steps that name Template
 * Credentials which the Workspace does not have.
 */
export const read = Effect.fnUntraced(function* (workspace: string, params: Schema.JsonObject, limits: Limits.Values) {
  const { share } = yield* Turns.Turns
  const merged = Json.withoutNulls(yield* TemplateMerge.merge(workspace, params))
  // The number of Steps is checked before the Steps are decoded.
  if (countOf(merged["steps"]) > limits.steps) return yield* tooManySteps(limits)
  const decoded = yield* share(decodeParams(merged)).pipe(
    Effect.mapError((issue) => Refusal.invalidForm(Input.fromSchemaIssue(issue)))
  )
  yield* UsedCredentials.check(workspace, decoded.steps ?? {})
  return { params: decoded, options: yield* share(CreationOptions.read(merged)) }
})

/** The decoded instructions of an Assembly. */
export type Instructions = Effect.Success<ReturnType<typeof read>>
