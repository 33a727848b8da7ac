/**
 * Operations of Assemblies: statistics and list (spec.md, "Endpoints" 1 and 2), and create, replace, get, watch, cancel
 * and replay. The last six are beyond the specification, which names them but does not define them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type * as Duration from "effect/Duration"
import type * as ApiError from "./ApiError.ts"

export { Cancel, cancel } from "./internal/assemblies/cancel.ts"
export { Create, create, newId } from "./internal/assemblies/create.ts"
export { awaitCompletion, awaitOptionIssues, watch } from "./internal/assemblies/follow.ts"
export { outcome } from "./internal/completion.ts"
export { Get, get } from "./internal/assemblies/get.ts"
export { List, list, listAll, listPages } from "./internal/assemblies/list.ts"
export { Replace, replace } from "./internal/assemblies/replace.ts"
export { Replay, replay } from "./internal/assemblies/replay.ts"
export { Statistics, statistics } from "./internal/assemblies/statistics.ts"

/**
 * The params and form fields of a new Assembly, and its id if the caller has chosen one.
 *
 * @since 0.1.0
 * @category models
 */
export interface CreateOptions extends Assembly.CreateParams, Assembly.CreateForm {
  readonly assemblyId?: Assembly.AssemblyId
}

/**
 * The params and form fields of an Assembly that replaces another Assembly.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReplaceOptions extends Assembly.CreateParams, Assembly.CreateForm {}

/**
 * The options of `awaitCompletion` and `watch`, which read the Status of an Assembly repeatedly.
 *
 * - `interval`: the first pause between two readings, 1 second by default. Each further pause is 1.5 times as long, up
 *   to `maxInterval`. Up to a tenth of each pause is added at random. In `watch`, the pauses start again at `interval`
 *   after each changed Status. While `watch` is connected to an update stream, it reads the Status after events and
 *   every 30 to 33 seconds instead.
 * - `maxInterval`: the longest pause before the random part is added, 10 seconds by default.
 * - `maxWait`: the maximum pause that a rate limit may request, 1 minute by default. If a rate limit requests a longer
 *   pause, the error is `RateLimited`.
 *
 * Each duration must be positive and finite. If a duration breaks this rule, nothing is read, and the error is
 * `InvalidRequest`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FollowOptions {
  readonly interval?: Duration.Input | undefined
  readonly maxInterval?: Duration.Input | undefined
  readonly maxWait?: Duration.Input | undefined
}

/**
 * - `timeout`: the time limit of the whole `awaitCompletion`, 1 hour by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface AwaitOptions extends FollowOptions {
  readonly timeout?: Duration.Input | undefined
}

/**
 * The error for an Assembly that ended without completing.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyError = ApiError.AssemblyFailed | ApiError.AssemblyCanceled | ApiError.AssemblyAborted
