/**
 * The operations that create, read, replace and cancel one Assembly.
 */
import type { FormSender } from "@assembly-effect/auth/unstable/StreamSender"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as StepRules from "@assembly-effect/schema/unstable/StepRules"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Exchange from "../unstable/Exchange.ts"
import * as Operation from "../unstable/Operation.ts"
import * as ServiceUrl from "../unstable/ServiceUrl.ts"

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

/** {@link get} as a part of another operation, which an `InvalidRequest` names. */
export const getFor = (operation: string, assemblyId: Assembly.AssemblyId): ReturnType<typeof get> =>
  Effect.mapError(get(assemblyId), (error) =>
    error._tag === "InvalidRequest" ? new InvalidRequest({ ...error, operation }) : error
  )

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
 * {@link create}, with files in the form that `form` sends.
 *
 * @since 0.1.0
 * @category operations
 */
export const createWith: (
  options: CreateOptions,
  form: FormSender | undefined
) => Effect.Effect<Assembly.Status, Operation.Failure<typeof Create>, Operation.AssemblyClient> = Effect.fnUntraced(
  function* (options, form) {
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
  }
)

/**
 * Creates an Assembly. The Steps of the Assembly are checked by the rules of `Instructions.make` before anything is
 * sent. Without `assemblyId`, the id is generated as by {@link newId}.
 *
 * If the creation request fails, and its failure does not prove that the Assembly was not created, the Status is
 * requested. The proofs are a rate limit, a request of which no byte was sent, and the HTTP statuses 501 and 4xx except
 * 408, 423, 425 and 499, whatever the body says. A 409 is a proof only if the caller chose the id. If the service knows
 * the Assembly, its Status is the result. If the Status cannot be read, the operation fails with the error of the
 * creation request. Every error after the creation request was sent contains the `assemblyId`, so that a caller can
 * request the Status later. The creation request is repeated only after a rate limit, after a refused token, after an
 * expired signature, or if no byte of the request was sent.
 *
 * @example
 * Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 *
 * @since 0.1.0
 * @category operations
 */
export const create: (
  options: CreateOptions
) => Effect.Effect<Assembly.Status, Operation.Failure<typeof Create>, Operation.AssemblyClient> = (options) =>
  createWith(options, undefined)

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

/**
 * `DELETE /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Cancel = Operation.make("Assemblies.cancel", "DELETE /assemblies/:assemblyId", {
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  carrier: "query",
  answers: "assemblyStatus",
  success: Assembly.Status
})

/**
 * Whether the state of the Assembly is unknown after a failure of the DELETE request: the failure does not prove that
 * the service did nothing, or the response has the status 404 or 410.
 */
const mayBeCanceled = (error: Operation.Failure<typeof Cancel>): boolean =>
  isLost(error) || ("status" in error && (error.status === 404 || error.status === 410))

/**
 * Cancels an Assembly and returns its final Status. If the Assembly had already ended, the Status shows that end
 * instead of a cancellation. The current Status is read first, and the DELETE request is sent to its
 * `assembly_ssl_url`. If that URL is missing, does not belong to the service or does not contain the id of the
 * Assembly, the DELETE request is sent to the base URL. The DELETE request is repeated only if the service did nothing.
 *
 * The Status is read again if the DELETE request fails without a proof that the service did nothing, after the status
 * 404 or 410, and if the response to the DELETE request is not a final Status. If the Status is not final then, the
 * error is `UnexpectedResponse`: the Assembly may still run.
 *
 * @since 0.1.0
 * @category operations
 */
export const cancel: (
  assemblyId: Assembly.AssemblyId
) => Effect.Effect<Assembly.Status, Operation.Failure<typeof Cancel>, Operation.AssemblyClient> = Effect.fnUntraced(
  function* (assemblyId) {
    const client = yield* Operation.AssemblyClient
    const { assembly_ssl_url: address } = yield* getFor(Cancel.name, assemblyId)
    /** The URL of the Assembly in its Status, if this URL belongs to the service and contains the id of the Assembly. */
    const at = Option.filter(
      ServiceUrl.make(address, client.origins),
      (url) => ServiceOrigins.assemblyIdAt(Redacted.value(url)) === assemblyId
    )
    const canceled = yield* client
      .run(Cancel, { path: { assemblyId }, params: {}, fields: {}, at: Option.getOrUndefined(at) })
      .pipe(
        Effect.catchIf(mayBeCanceled, (lost) =>
          Effect.mapError(get(assemblyId), (error) => (isLost(lost) ? lost : error))
        )
      )
    if (Assembly.isOver(canceled)) return canceled
    const status = yield* get(assemblyId)
    if (Assembly.isOver(status)) return status
    const subject = { operation: Cancel.name, assemblyId }
    return yield* Exchange.unexpected(subject, 200, "the Assembly has not ended after its cancellation")
  }
)
