/**
 * The budget of an account: how many Assemblies it may create in a minute, how many may run at once, and how many
 * requests it may send. The service has such quotas for an account, and refuses what exceeds them; a budget waits instead.
 *
 * The index does not export this module: `import * as Budget from "@assembly-effect/api/Budget"`.
 */
import * as Low from "@assembly-effect/auth/unstable/Budget"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Schema from "effect/Schema"
import * as Budget from "./internal/budget.ts"

export { BudgetStore, BudgetStoreFailed, layerMemory as layerStoreMemory } from "./internal/budget.ts"

/**
 * The quotas of an account.
 *
 * - `created`: how many Assemblies are created in any minute. They are paced: 250 a minute are a bucket of 5, and one
 *   every 248 ms.
 * - `running`: how many Assemblies run at once. Counts those that are watched to their end, by `AssemblyUpload` and by
 *   durable jobs.
 * - `requests`: how many requests are sent in ten seconds. No limit by default, because the service's number is not public.
 * - `account`: which account this is, if the budgets of several accounts share a store. `"default"` by default.
 *
 * `created` and `running` are 250 by default for the public service, and off for any other. `false` switches them off.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Budget.Settings>

/**
 * Does the same as {@link layer}, with the stores in the context: a `RateLimiter` for the rates, in memory or in Redis, and a
 * {@link BudgetStore} for the pauses and the running Assemblies.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNoDeps = (
  options: Options = {}
): Layer.Layer<never, InvalidRequest, RateLimiter.RateLimiter | Budget.BudgetStore> =>
  Layer.effect(Low.Budget, Budget.make(options))

/**
 * Makes the requests of operations, uploads and tokens wait, so that the account stays within its quotas.
 *
 * **Details**
 *
 * - A request waits before it is signed. The wait uses up no attempt, no `requestTimeout` and no `stallTimeout`, and the
 *   default deadline starts after it. It has no maximum but that of the caller: with `AssemblyClient.withDeadline`, the
 *   operation fails at once with `RateLimited`, which contains the wait.
 * - If the service requests a pause (429 with `Retry-After` or `info.retryIn`), every request waits for it, also for
 *   hours. After a 413, every creation of an Assembly waits. A refused request is then sent again.
 * - Whoever waits is told by the event `Waiting`, by an attribute of its span, and by the metric `assembly_budget_wait`.
 * - The place of a running Assembly belongs to the program that watches it, which prolongs it every minute. After the
 *   death of this program, whoever waits reads the Status once, and takes the place of an Assembly that does not run.
 *
 * Provide the Layer to the whole program, with `Layer.provideMerge` as below: uploads use the budget of their caller. The
 * budget counts what this process sends. For several processes, use `@assembly-effect/workflow/BudgetSql`, with the same numbers in each, which
 * durable jobs use by default. The requests of `Results` and of `WebSource.fromUrl` need no permit.
 *
 * @example
 * AssemblyClient.layer({ baseUrl }).pipe(
 *   Layer.provideMerge(Budget.layer({ created: 2500 })),
 *   Layer.provideMerge(FetchClient.layer)
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<never, InvalidRequest> =>
  Layer.unwrap(
    // The store in memory of `RateLimiter` is one memoized Layer, which all budgets of a program would share.
    Effect.sync(() =>
      layerNoDeps(options).pipe(
        Layer.provide([Layer.fresh(Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)), Budget.layerMemory])
      )
    )
  )
