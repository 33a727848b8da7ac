import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /assembly_notifications/:assemblyId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make({
  name: "Notifications.list",
  method: "GET",
  path: "/assembly_notifications/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  scope: undefined,
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: Notification.Listing,
  errors: {},
  retry: "safe"
})

/**
 * Lists the notifications that were sent about an Assembly, and the responses of their receivers.
 *
 * Beyond the specification.
 *
 * @example
 * Notifications.list(assemblyId)
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (assemblyId: Assembly.AssemblyId) =>
  AssemblyClient.use((client) => client.run(List, { path: { assemblyId }, params: {}, fields: {} }))
