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
 * `DELETE /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
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

/** The URL of the Assembly in its Status, if this URL belongs to the service and contains the id of the Assembly. */
const addressOf = (status: Assembly.Status, assemblyId: Assembly.AssemblyId, { origins }: AssemblyClient["Service"]) =>
  Option.filter(
    ServiceUrl.make(status.assembly_ssl_url, origins),
    (url) => ServiceOrigins.assemblyIdAt(Redacted.value(url)) === assemblyId
  )

/**
 * Whether the state of the Assembly is unknown after a failure of the DELETE request: the failure does not prove that
 * the service did nothing, or the response has the status 404 or 410.
 */
const isOpen = (error: Operation.Failure<typeof Cancel>): boolean =>
  Lost.isLost(error) || ("status" in error && (error.status === 404 || error.status === 410))

/**
 * Sends the DELETE request, which the client repeats only if the service did nothing. If the state of the Assembly is
 * unknown after a failure (`isOpen`), also reads the Status.
 */
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
 * Cancels an Assembly and returns its new Status. If the Assembly had already ended, the Status shows that end instead
 * of a cancellation. The current Status is read first, and the DELETE request is sent to its `assembly_ssl_url`. If
 * that URL is missing, does not belong to the service or does not contain the id of the Assembly, the DELETE request is
 * sent to the base URL.
 *
 * If the DELETE request fails, the Status is read again in two cases: if the failure does not prove that the service
 * did nothing, and after the status 404 or 410. If the Assembly has ended, its Status is the result. If the Assembly is
 * still running, the DELETE request is sent once more, and the Status after the second DELETE request is the result,
 * even if the Assembly is still running. The operation fails if a Status cannot be read.
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
