import * as Operations from "@assembly-effect/api/Assemblies"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as SchemaParser from "effect/SchemaParser"
import * as Limits from "../limits.ts"
import * as Json from "../data/json.ts"
import * as Turns from "../http/turns.ts"
import * as Refusal from "../http/refusal.ts"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Schema from "effect/Schema"
import * as Templates from "../templates/templates.ts"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Credentials from "../templateCredentials/credentials.ts"

type Steps = Readonly<Record<string, Assembly.Step>>

/** A value of `credentials` in a Step, and its path. */
interface Named {
  readonly value: unknown
  readonly path: ReadonlyArray<string | number>
}

/** All credentials that Steps name. A Step names one credential; a Step of an AI robot may name a list. */
const named = (steps: Steps): ReadonlyArray<Named> =>
  Object.entries(steps).flatMap(([name, { credentials }]): ReadonlyArray<Named> => {
    const path = ["steps", name, "credentials"]
    if (credentials === undefined || credentials === null) return []
    return Array.isArray(credentials)
      ? credentials.map((value: unknown, index) => ({ value, path: [...path, index] }))
      : [{ value: credentials, path }]
  })

/** A name with a variable, such as `${fields.account}`, is known only when the service runs the Step. */
const hasVariable = (text: string): boolean => /\$\{[^{}]+\}/.test(text)

const problemOf = ({ path, value }: Named, existing: ReadonlySet<string>): ReadonlyArray<Issue> => {
  if (typeof value !== "string") return [{ path, message: "Expected the name of Template Credentials" }]
  if (existing.has(value) || hasVariable(value)) return []
  return [{ path, message: "There are no Template Credentials with this name in this Workspace." }]
}

/**
 * Refuses Steps that name Template Credentials which the Workspace does not have. A name with a variable is not
 * checked.
 *
 * The error code is from the official client. The service does not document when it sends this code; the emulator sends
 * the code before it creates the Assembly.
 */
const checkCredentials = Effect.fnUntraced(function* (store: Credentials.Store, workspace: string, steps: Steps) {
  const all = named(steps)
  if (all.length === 0) return
  const names = all.flatMap(({ value }) => (typeof value === "string" ? [value] : []))
  const existing = yield* store.existing(workspace, names)
  const issues = all.flatMap((one) => problemOf(one, existing))
  if (issues.length > 0) return yield* Refusal.invalid("TEMPLATE_CREDENTIALS_INJECTION_ERROR")(issues)
})

/** A URL of limited length, because a page of the Assembly list can contain the URLs of 5000 Assemblies. */
const Url = Schema.String.check(Schema.isMaxLength(2048))

/**
 * Decodes the fields of the params that only the emulator limits. Also limits the length of `notify_url`.
 * These rules are beyond the specification, which defines only `auth.max_size` ("Limits").
 */
const Options = Schema.Struct({
  notify_url: Schema.optionalKey(Schema.NullOr(Url)),
  redirect_url: Schema.optionalKey(Schema.NullOr(Url)),
  emit_execution_progress: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  notification_payload: Schema.optionalKey(Schema.NullOr(Schema.Array(Assembly.NotificationPayload))),
  quiet: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  auth: Schema.optionalKey(
    Schema.Struct({
      max_size: Schema.optionalKey(
        Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })))
      )
    })
  )
})

const decodeOptions = Schema.decodeUnknownEffect(Options)

/** Reads the options from params that are not decoded yet. */
const readOptions = (params: Schema.JsonObject) =>
  decodeOptions(params).pipe(
    Effect.map(({ auth, emit_execution_progress, notification_payload, quiet, redirect_url }) => ({
      redirect_url: redirect_url ?? null,
      emit_progress: emit_execution_progress ?? false,
      notification_payload: notification_payload ?? [],
      isQuiet: quiet ?? false,
      max_size: auth?.max_size ?? null
    })),
    Effect.mapError(({ message }) => Refusal.refuse("INVALID_FORM_DATA", 400, message))
  )

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
const merge = Effect.fnUntraced(function* (templates: Templates.Store, workspace: string, params: Schema.JsonObject) {
  const { steps, template_id: id } = params
  if (typeof id !== "string") return params
  const { content } = yield* templates.byId(workspace, id)
  return content.allow_steps_override === false && steps !== undefined
    ? yield* stepsDenied
    : Json.merge(content, params)
})

const countOf = (steps: Schema.Json | undefined): number => (Predicate.isObject(steps) ? Object.keys(steps).length : 0)

const decodeParams = SchemaParser.decodeUnknownEffect(Operations.Create.params, { errors: "all" })

/**
 * Reads the instructions of a request of a Workspace: merges its params into their Template and decodes the result.
 * Refuses Steps that name Template Credentials which the Workspace does not have.
 */
export const reader = Effect.gen(function* () {
  const credentials = yield* Credentials.make
  const { steps: most } = yield* Limits.Limits
  const templates = yield* Templates.make

  return Effect.fnUntraced(function* (workspace: string, params: Schema.JsonObject) {
    const merged = Json.withoutNulls(yield* merge(templates, workspace, params))
    // The number of Steps is checked before the Steps are decoded.
    if (countOf(merged["steps"]) > most) {
      return yield* Refusal.refuse("ASSEMBLY_INVALID_STEPS", 400, `An Assembly has at most ${most} Steps.`)
    }
    const decoded = yield* Turns.share(decodeParams(merged)).pipe(
      Effect.mapError((issue) => Refusal.invalidForm(Input.fromSchemaIssue(issue)))
    )
    yield* checkCredentials(credentials, workspace, decoded.steps ?? {})
    return { params: decoded, options: yield* Turns.share(readOptions(merged)) }
  })
})
