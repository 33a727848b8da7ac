/**
 * Operations of the notifications of an Assembly. Beyond the specification, which only names them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 */
export { List, list } from "./internal/notifications/list.ts"
export { Replay, replay } from "./internal/notifications/replay.ts"
