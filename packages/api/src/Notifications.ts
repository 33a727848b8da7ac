/**
 * Operations of the notifications about an Assembly. These operations are beyond the specification, which names them
 * but does not define them.
 *
 * The index does not export this module: `import * as Notifications from "@assembly-effect/api/Notifications"`.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Operation from "./unstable/Operation.ts"

/**
 * `GET /assembly_notifications/:assemblyId`. The operation is beyond the specification, which names it but does not
 * define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("Notifications.list", "GET /assembly_notifications/:assemblyId", {
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  success: Notification.Listing
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
export const list = (assemblyId: Assembly.AssemblyId) => Operation.run(List, { assemblyId }, {})

/**
 * `POST /assembly_notifications/:assemblyId/replay`. The operation is beyond the specification, which names it but does
 * not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replay = Operation.make("Notifications.replay", "POST /assembly_notifications/:assemblyId/replay", {
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assembly_notifications:write",
  params: Notification.ReplayRequest,
  success: Notification.Replayed
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
  Operation.run(Replay, { assemblyId }, request)
