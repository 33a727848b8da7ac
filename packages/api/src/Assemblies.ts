/**
 * Operations of Assemblies: statistics and list (spec.md, "Endpoints" 1 and 2), and create, replace, get, watch, cancel
 * and replay. The last six are beyond the specification, which names them but does not define them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 */
export { Cancel, cancel } from "./internal/assemblies/cancel.ts"
export { Create, create, type CreateOptions, newId } from "./internal/assemblies/create.ts"
export {
  awaitCompletion,
  awaitOptionIssues,
  type AwaitOptions,
  type FollowOptions,
  watch
} from "./internal/assemblies/follow.ts"
export { type AssemblyError, outcome } from "./internal/completion.ts"
export { Get, get } from "./internal/assemblies/get.ts"
export { List, list, listAll, listPages } from "./internal/assemblies/list.ts"
export { Replace, replace, type ReplaceOptions } from "./internal/assemblies/replace.ts"
export { Replay, replay } from "./internal/assemblies/replay.ts"
export { Statistics, statistics } from "./internal/assemblies/statistics.ts"
