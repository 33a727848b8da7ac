/**
 * The creation of an Assembly, and what other modules and packages need to know about Assemblies. The module
 * `Assemblies` has all other operations.
 */
import type { FormSender } from "@assembly-effect/auth/unstable/StreamSender"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as StepRules from "@assembly-effect/schema/unstable/StepRules"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import * as Operation from "../unstable/Operation.ts"

/**
 * `GET /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make("Assemblies.get", "GET /assemblies/:assemblyId", {
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  answers: "assemblyStatus",
  success: Assembly.Status
})

/**
 * Gets the Status of an Assembly. The Status of a failed Assembly is a success of this operation.
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (assemblyId: Assembly.AssemblyId) => Operation.run(Get, { assemblyId }, {})

/**
 * The params and the form fields of a new Assembly. In a JavaScript program, the options may be any value. Such a value
 * becomes the params, which refuse it.
 */
const partsOf = (options: Assembly.CreateParams & Assembly.CreateForm) => {
  if (!Input.isRecord(options)) return { params: options, fields: {} }
  const { numExpectedUploadFiles, ...params } = options
  return { params, fields: numExpectedUploadFiles === undefined ? {} : { numExpectedUploadFiles } }
}

/**
 * Checks the Steps of a new Assembly by the rules of `Instructions.make`. If the params also name a Template, the Steps
 * in the params change the Steps of the Template, so a `use` in the params may name Steps that only the Template has.
 */
export const checkSteps = ({ steps, templateId }: Assembly.CreateParams): ReadonlyArray<Issue> =>
  steps === undefined
    ? []
    : StepRules.problems(steps, templateId === undefined ? "whole" : "changes").map(({ message, path }) => ({
        path: ["steps", ...path],
        message
      }))

/**
 * Whether a failure leaves open what the service did: the request may have been sent, and there was either no response
 * or a response whose status does not prove a refusal. A rate limit proves that the service did nothing. For any other
 * response, only the HTTP status decides, whatever the body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isLost = (error: {
  readonly _tag: string
  readonly status?: number
  readonly sent?: "no" | "maybe"
}): boolean => {
  if (error._tag === "TransportFailure") return error.sent !== "no"
  if (error._tag === "InvalidRequest" || error._tag === "RateLimited") return false
  return error.status === undefined || !Outcome.isRefusal(error.status)
}

/**
 * The params and form fields of a new Assembly, and its id if the caller has chosen one.
 *
 * @since 0.1.0
 * @category models
 */
export interface CreateOptions extends Assembly.CreateParams, Assembly.CreateForm {
  readonly assemblyId?: Assembly.AssemblyId
}

/** What the creation and the replacement of an Assembly have in common. */
const creation = {
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assemblies:write",
  carrier: "multipart",
  params: Assembly.CreateParams,
  fields: Assembly.CreateForm,
  answers: "assemblyStatus",
  success: Assembly.Status,
  check: checkSteps,
  creates: true
} as const

/**
 * `POST /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make("Assemblies.create", "POST /assemblies/:assemblyId", { ...creation })

/**
 * Generates the id of a new Assembly from a cryptographic source, because anybody who knows the id can read the Status.
 *
 * @since 0.1.0
 * @category constructors
 */
export const newId: Effect.Effect<Assembly.AssemblyId> = WebCrypto.useSync((crypto) =>
  Assembly.AssemblyId.make(Hex.encode(crypto.getRandomValues(new Uint8Array(16))))
)

/**
 * Whether to request the Status after a failure. A conflict on a generated id means that an earlier attempt has created
 * the Assembly. A conflict on an id that the caller chose may come from somebody else's Assembly, so the Status is not
 * requested.
 */
const mayExist = (error: Operation.Failure<typeof Create>, options: CreateOptions): boolean =>
  isLost(error) && (options.assemblyId === undefined || !("status" in error) || error.status !== 409)

/**
 * `Assemblies.create`, with files in the form that `form` sends.
 *
 * @since 0.1.0
 * @category operations
 */
export const createWith = Effect.fnUntraced(function* (options: CreateOptions, form?: FormSender) {
  const { assemblyId = yield* newId, ...rest } = options ?? {}
  const client = yield* Operation.AssemblyClient
  return yield* client
    .run(Create, { path: { assemblyId }, ...partsOf(Input.isRecord(options) ? rest : options), form })
    .pipe(
      Effect.catchIf(
        (error) => mayExist(error, options),
        (error) => Effect.mapError(get(assemblyId), () => error)
      )
    )
})

/**
 * `PUT /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replace = Operation.make("Assemblies.replace", "PUT /assemblies/:assemblyId", { ...creation })

/**
 * Creates an Assembly under an id that may already be in use: the new Assembly then replaces the old one.
 * `Assemblies.create` never replaces an Assembly.
 *
 * The request is not repeated if the service may have carried it out. If the response is lost, the operation fails and
 * reads no Status, because a Status would not show to which of the two Assemblies it belongs.
 *
 * Beyond the specification.
 *
 * @example
 * Assemblies.replace(assemblyId, { steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 *
 * @since 0.1.0
 * @category operations
 */
export const replace = (assemblyId: Assembly.AssemblyId, options: Omit<CreateOptions, "assemblyId">) =>
  Operation.AssemblyClient.use((client) => client.run(Replace, { path: { assemblyId }, ...partsOf(options) }))

/** The rules of {@link AwaitOptions}. */
export const AwaitSettings = Schema.Struct({
  interval: Schema.optional(Rules.duration),
  maxInterval: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration),
  timeout: Schema.optional(Rules.duration)
})

/**
 * The options of `awaitCompletion` and `watch`, which read the Status of an Assembly repeatedly. `watch` has no `timeout`.
 *
 * - `interval`: the first pause between two readings, 1 second by default. Each further pause is 1.5 times as long, up
 *   to `maxInterval`. Up to a tenth of each pause is added at random. In `watch`, the pauses start again at `interval`
 *   after each changed Status. While `watch` is connected to an update stream, it reads the Status after events and
 *   every 30 to 33 seconds instead.
 * - `maxInterval`: the longest pause before the random part is added, 10 seconds by default.
 * - `maxWait`: the maximum pause that a rate limit may request, 1 minute by default. If a rate limit requests a longer
 *   pause, the error is `RateLimited`.
 * - `timeout`: the time limit of the whole `awaitCompletion`. By default the limit is 1 hour, without the waits for the
 *   budget of the account.
 *
 * Each duration must be positive and finite. If a duration breaks this rule, nothing is read, and the error is
 * `InvalidRequest`.
 *
 * @since 0.1.0
 * @category models
 */
export interface AwaitOptions extends Schema.Codec.Encoded<typeof AwaitSettings> {}

/**
 * Validates the options of `awaitCompletion`. A function that creates an Assembly and then waits uses this
 * validation to refuse invalid options before the creation.
 *
 * @since 0.1.0
 * @category operations
 */
export const awaitOptionIssues: (options: AwaitOptions) => ReadonlyArray<Issue> = Rules.checker(AwaitSettings)
