import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as ServiceUrl from "../../ServiceUrl.ts"
import { get } from "./get.ts"

/**
 * `DELETE /assemblies/:assemblyId`, at the address that the Status names. Beyond the specification, which names the
 * operation only.
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
  params: Operation.nothing,
  fields: Operation.nothing,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: "safe"
})

/** The address that a Status names for its own Assembly. */
const addressOf = (status: Assembly.Status, assemblyId: Assembly.AssemblyId) =>
  Option.filter(ServiceUrl.make(status.assembly_ssl_url), (url) =>
    new URL(Redacted.value(url)).pathname.endsWith(`/assemblies/${assemblyId}`)
  )

/**
 * Cancels an Assembly and answers its Status then, which is not "canceled" when it was over before. The request goes to
 * the `assembly_ssl_url` of the Status, which is read first, and to the base URL where that is missing or unsafe.
 */
export const cancel = Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId) {
  const client = yield* AssemblyClient
  const at = addressOf(yield* get(assemblyId), assemblyId)
  return yield* client.run(Cancel, { path: { assemblyId }, params: {}, fields: {}, at: Option.getOrUndefined(at) })
})
