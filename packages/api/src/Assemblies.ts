/**
 * Operations of Assemblies: statistics and list (spec.md, "Endpoints" 1 and 2), and create, replace, get, watch, cancel
 * and replay. The last six are beyond the specification, which names them but does not define them.
 */
export {
  Cancel,
  cancel,
  Create,
  create,
  type CreateOptions,
  Get,
  get,
  newId,
  Replace,
  replace
} from "./internal/assemblies.ts"
export { type AssemblyError, awaitCompletion, type AwaitOptions, outcome, watch } from "./internal/follow.ts"
export { List, list, listAll, listPages, Replay, replay, Statistics, statistics } from "./internal/history.ts"
