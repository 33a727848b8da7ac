/**
 * Operations of the notifications about an Assembly. These operations are beyond the specification, which names them
 * but does not define them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 *
 * The index does not export this module: `import * as Notifications from "@assembly-effect/api/Notifications"`.
 */
export { List, list } from "./internal/notifications/list.ts"
export { Replay, replay } from "./internal/notifications/replay.ts"
