import type { FormSender } from "@assembly-effect/auth/unstable/StreamSender"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Lost from "../lost.ts"
import * as Steps from "../steps.ts"
import { get } from "./get.ts"

/**
 * The params and form fields of a new Assembly, and its id if the caller has chosen one.
 *
 * @since 0.1.0
 * @category models
 */
export interface CreateOptions extends Assembly.CreateParams, Assembly.CreateForm {
  readonly assemblyId?: Assembly.AssemblyId
}

/**
 * `POST /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make({
  name: "Assemblies.create",
  method: "POST",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assemblies:write",
  carrier: "multipart",
  params: Assembly.CreateParams,
  fields: Assembly.CreateForm,
  answers: "assemblyStatus",
  success: Assembly.Status,
  creates: true,
  check: Steps.check
})

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
const isOpen = (error: Operation.Failure<typeof Create>, options: CreateOptions): boolean =>
  Lost.isLost(error) && (options.assemblyId === undefined || !("status" in error) || error.status !== 409)

/**
 * {@link create}, with files in the form that `form` sends.
 *
 * @since 0.1.0
 * @category operations
 */
export const createWith: (
  options: CreateOptions,
  form: FormSender | undefined
) => Effect.Effect<Assembly.Status, Operation.Failure<typeof Create>, AssemblyClient> = Effect.fnUntraced(
  function* (options, form) {
    const { assemblyId = yield* newId, ...rest } = options ?? {}
    const client = yield* AssemblyClient
    return yield* client
      .run(Create, { path: { assemblyId }, ...Steps.partsOf(Input.isRecord(options) ? rest : options), form })
      .pipe(
        Effect.catchIf(
          (error) => isOpen(error, options),
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
) => Effect.Effect<Assembly.Status, Operation.Failure<typeof Create>, AssemblyClient> = (options) =>
  createWith(options, undefined)
