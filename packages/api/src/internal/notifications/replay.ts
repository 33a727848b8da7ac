import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `POST /assembly_notifications/:assemblyId/replay`. The operation is beyond the specification, which names it but does
 * not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replay = Operation.make({
  name: "Notifications.replay",
  method: "POST",
  path: "/assembly_notifications/:assemblyId/replay",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "signed",
  scope: "assembly_notifications:write",
  carrier: "form",
  nonceIn: "params",
  params: Notification.ReplayRequest,
  fields: Input.nothing,
  answers: "result",
  success: Notification.Replayed,
  errors: {},
  retry: []
})

/**
 * Sends the notification of an Assembly again, to its `notify_url` or to another URL. A repetition would send another
 * notification, so the request is not repeated if the service may have carried it out.
 *
 * Beyond the specification.
 *
 * @example
 * Notifications.replay(assemblyId, { notifyUrl: "https://app.example.com/assembly" })
 *
 * @since 0.1.0
 * @category operations
 */
export const replay = (assemblyId: Assembly.AssemblyId, request: Notification.ReplayRequest = {}) =>
  AssemblyClient.use((client) => client.run(Replay, { path: { assemblyId }, params: request, fields: {} }))
