import * as Assembly from "@assembly-effect/schema/Assembly"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type * as ApiError from "../../ApiError.ts"
import type { CreateOptions } from "../../Assemblies.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Lost from "../lost.ts"
import { get } from "./get.ts"

/**
 * `POST /assemblies/:assemblyId`. Beyond the specification, which names the operation only.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make({
  name: "Assemblies.create",
  method: "POST",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "signed",
  scope: "assemblies:write",
  carrier: "multipart",
  nonceIn: "params",
  params: Assembly.CreateParams,
  fields: Assembly.CreateForm,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: []
})

/**
 * A new id for an Assembly, from a cryptographic source: an id alone reads the Status.
 *
 * @since 0.1.0
 * @category constructors
 */
export const newId: Effect.Effect<Assembly.AssemblyId> = SecureRandom.SecureRandom.use((random) =>
  random.randomBytes(16)
).pipe(
  Effect.map((bytes) => Assembly.AssemblyId.make(Hex.encode(bytes))),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/**
 * Whether to ask for the Assembly after a failure. A conflict says nothing about an id that only we can know; one that
 * the caller chose is taken then, maybe by a stranger's Assembly.
 */
const isOpen = (error: Operation.Failure<typeof Create>, isOurId: boolean): boolean =>
  Lost.isLost(error) && (isOurId || !("status" in error) || error.status !== 409)

/**
 * Creates an Assembly under an id of our own choice, drawn from a cryptographic source: an id alone reads the status.
 *
 * When the answer is lost, or its status leaves open what was done (5xx but 501, whatever the body says), the id decides:
 * if the service knows the Assembly, its Status is the answer, else the error stands. It carries the `assemblyId`, as every error of this operation does, so that a caller can ask again later. The
 * creation itself is repeated only after a rate limit, and when nothing of the request has left.
 *
 * @example
 * Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 *
 * @since 0.1.0
 * @category operations
 */
export const create: (
  options: CreateOptions
) => Effect.Effect<
  Assembly.Status,
  | ApiError.InvalidRequest
  | ApiError.AuthenticationFailed
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> = Effect.fnUntraced(function* (options) {
  const { assemblyId = yield* newId, numExpectedUploadFiles, ...params } = options
  const client = yield* AssemblyClient
  return yield* client
    .run(Create, {
      path: { assemblyId },
      params,
      fields: numExpectedUploadFiles === undefined ? {} : { numExpectedUploadFiles }
    })
    .pipe(
      Effect.catchIf(
        (error) => isOpen(error, options.assemblyId === undefined),
        (error) => Effect.mapError(get(assemblyId), () => error)
      )
    )
})
