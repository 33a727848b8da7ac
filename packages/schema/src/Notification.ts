/**
 * The notifications of an Assembly: the requests to its `notify_url`, and the responses of the receiver.
 *
 * These schemas are beyond the specification: spec.md names the operations, but defines neither their params nor their
 * responses.
 *
 * The index does not export this module: `import * as Notification from "@assembly-effect/schema/Notification"`.
 */
import * as Schema from "effect/Schema"
import { AssemblyId } from "./Assembly.ts"
import { lenient, NonEmptyString } from "./unstable/Field.ts"
import { ServiceDate } from "./internal/date.ts"
import { kept, named, renamed, type Structure, success } from "./unstable/Struct.ts"

const text = lenient(Schema.String)

/**
 * One notification. `duration` is in seconds. `status` is `error`, `processing`, `successful` or null; a new value may
 * appear. `response_code` and `response_data` are the HTTP status and the body of the receiver's response. Unknown
 * fields are kept. A field whose value has the wrong type is left out.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Notification = kept({
  id: text,
  app_id: text,
  assembly_id: lenient(AssemblyId),
  duration: lenient(Schema.Finite),
  error: text,
  response_code: lenient(Schema.Finite),
  response_data: text,
  start: lenient(ServiceDate),
  status: text,
  url: text
}).pipe(named<Notification, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Notification extends Structure<typeof Notification> {}
/**
 * The notifications of one Assembly.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Listing = Schema.Struct({
  ok: Schema.Literal("ASSEMBLY_NOTIFICATIONS_LISTED"),
  notifications: Schema.Array(Notification)
}).pipe(named<Listing>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Listing extends Structure<typeof Listing> {}

/**
 * The params of a request to send a notification again.
 *
 * - `notifyUrl`: the receiver, by default the `notify_url` of the Assembly.
 * - `wait`: with false, the service may respond before the receiver has responded.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ReplayRequest = named<ReplayRequest>()(
  renamed({ notifyUrl: Schema.optionalKey(NonEmptyString), wait: Schema.optionalKey(Schema.Boolean) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface ReplayRequest extends Structure<typeof ReplayRequest> {}

/**
 * The response to a request to send a notification again. `notification_id` is the id of the new notification.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Replayed = named<Replayed>()(
  success("ASSEMBLY_NOTIFICATION_REPLAYED", { success: lenient(Schema.Boolean), notification_id: NonEmptyString })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface Replayed extends Structure<typeof Replayed> {}
