import * as Input from "../../unstable/Input.ts"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as ServiceUrl from "../../ServiceUrl.ts"
import * as Lost from "../lost.ts"
import { get } from "./get.ts"

/**
 * `DELETE /assemblies/:assemblyId`, at the address that the Status names. Beyond the specification, which names the
 * operation only.
 *
 * @since 0.1.0
 * @category operations
 */
export const Cancel = Operation.make({
  name: "Assemblies.cancel",
  method: "DELETE",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  scope: undefined,
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: []
})

/** The address that a Status names for its own Assembly. */
const addressOf = (status: Assembly.Status, assemblyId: Assembly.AssemblyId, { origins }: AssemblyClient["Service"]) =>
  Option.filter(
    ServiceUrl.make(status.assembly_ssl_url, origins),
    (url) => ServiceOrigins.assemblyIdAt(Redacted.value(url)) === assemblyId
  )

/** Whether a failure leaves open how the Assembly stands: a lost answer, or an address that does not know it any more. */
const isOpen = (error: Operation.Failure<typeof Cancel>): boolean =>
  Lost.isLost(error) || ("status" in error && (error.status === 404 || error.status === 410))

/** One DELETE; where its failure leaves open what happened, a reading of the Status comes with it. */
const attempt = Effect.fnUntraced(function* (status: Assembly.Status, assemblyId: Assembly.AssemblyId) {
  const client = yield* AssemblyClient
  const at = Option.getOrUndefined(addressOf(status, assemblyId, client))
  return yield* client.run(Cancel, { path: { assemblyId }, params: {}, fields: {}, at }).pipe(
    Effect.map((answer) => ({ answer, lost: undefined })),
    Effect.catchIf(isOpen, (lost) =>
      Effect.mapBoth(get(assemblyId), { onSuccess: (answer) => ({ answer, lost }), onFailure: () => lost })
    )
  )
})

/**
 * Cancels an Assembly and answers its Status then, which is not "canceled" when it was over before. The request goes to
 * the `assembly_ssl_url` of the Status, which is read first, and to the base URL where that is missing, or of an origin
 * that does not belong to the service.
 *
 * It is not repeated blindly. When its answer is lost, or is 404 or 410, the Status is read: that of an Assembly that is
 * over is the answer. One that still goes on was not reached, and is asked once more; the Status that is seen then is the
 * answer, whatever it says. The error stands when the Status cannot be read.
 *
 * @since 0.1.0
 * @category operations
 */
export const cancel: (
  assemblyId: Assembly.AssemblyId
) => Effect.Effect<
  Assembly.Status,
  | ApiError.InvalidRequest
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> = Effect.fnUntraced(function* (assemblyId) {
  const first = yield* attempt(yield* get(assemblyId), assemblyId)
  if (first.lost === undefined || Assembly.isOver(first.answer)) return first.answer
  const second = yield* attempt(first.answer, assemblyId)
  return second.answer
})
