import * as Assembly from "@assembly-effect/schema/Assembly"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as ServiceUrl from "../../ServiceUrl.ts"
import * as Lost from "../lost.ts"
import { get, getFor } from "./get.ts"

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
  carrier: "query",
  answers: "assemblyStatus",
  success: Assembly.Status
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
) => Effect.Effect<Assembly.Status, Operation.Failure<typeof Cancel>, AssemblyClient> = Effect.fnUntraced(
  function* (assemblyId) {
    const client = yield* AssemblyClient
    const at = Option.getOrUndefined(addressOf(yield* getFor(Cancel.name, assemblyId), assemblyId, client))
    const canceled = yield* client
      .run(Cancel, { path: { assemblyId }, params: {}, fields: {}, at })
      .pipe(
        Effect.catchIf(isOpen, (lost) =>
          Effect.mapError(get(assemblyId), (error) => (Lost.isLost(lost) ? lost : error))
        )
      )
    if (Assembly.isOver(canceled)) return canceled
    const status = yield* get(assemblyId)
    if (Assembly.isOver(status)) return status
    return yield* new ApiError.UnexpectedResponse({
      operation: Cancel.name,
      assemblyId,
      status: 200,
      description: "the Assembly has not ended after its cancellation",
      excerpt: ""
    })
  }
)
