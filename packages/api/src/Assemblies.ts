/**
 * Operations of Assemblies: create, get, watch, cancel, list and statistics (spec.md, "Endpoints" 1 and 2).
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 */
export { Cancel, cancel } from "./internal/assemblies/cancel.ts"
export { Create, create, type CreateOptions, newId } from "./internal/assemblies/create.ts"
export {
  type AwaitOptions,
  awaitCompletion,
  awaitOptionIssues,
  type FollowOptions,
  watch
} from "./internal/assemblies/follow.ts"
export { type AssemblyError, outcome } from "./internal/completion.ts"
export { Get, get } from "./internal/assemblies/get.ts"
export { List, list, listAll, listPages } from "./internal/assemblies/list.ts"
export { Statistics, statistics } from "./internal/assemblies/statistics.ts"
