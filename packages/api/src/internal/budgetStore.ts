import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The store of a budget failed. `cause` is the error of the database.
 *
 * @since 0.1.0
 * @category errors
 */
export class BudgetStoreFailed extends Data.TaggedError("BudgetStoreFailed")<{ readonly cause: unknown }> {}

/**
 * What the processes of an account share beside the counters of a `RateLimiterStore`. Times are in milliseconds since
 * 1970.
 *
 * - `pausedUntil`, `pause`: the end of a pause. A pause never becomes shorter.
 * - `hold`: prolongs the place of an Assembly until `until`, or takes one of `limit` places. False if all are taken.
 * - `release`: gives a place back.
 * - `overdue`: the Assemblies whose places nobody has prolonged in time. Prolongs these places until `until`, so that
 *   only one program asks for each Assembly.
 *
 * @since 0.1.0
 * @category services
 */
export class BudgetStore extends Context.Service<
  BudgetStore,
  {
    readonly pausedUntil: (name: string) => Effect.Effect<number, BudgetStoreFailed>
    readonly pause: (name: string, until: number) => Effect.Effect<void, BudgetStoreFailed>
    readonly hold: (options: {
      readonly account: string
      readonly assemblyId: string
      readonly limit: number
      readonly until: number
    }) => Effect.Effect<boolean, BudgetStoreFailed>
    readonly release: (options: {
      readonly account: string
      readonly assemblyId: string
    }) => Effect.Effect<void, BudgetStoreFailed>
    readonly overdue: (options: {
      readonly account: string
      readonly now: number
      readonly until: number
    }) => Effect.Effect<ReadonlyArray<string>, BudgetStoreFailed>
  }
>()("@assembly-effect/api/BudgetStore") {}

/** See `Budget.layerStoreMemory`. */
export const layerMemory: Layer.Layer<BudgetStore> = Layer.fresh(
  Layer.sync(BudgetStore, () => {
    const pauses = new Map<string, number>()
    const accounts = new Map<string, Map<string, number>>()
    const placesOf = (account: string) => {
      const places = accounts.get(account) ?? new Map<string, number>()
      accounts.set(account, places)
      return places
    }
    return {
      pausedUntil: (name) => Effect.sync(() => pauses.get(name) ?? 0),
      pause: (name, until) => Effect.sync(() => pauses.set(name, Math.max(until, pauses.get(name) ?? 0))),
      hold: ({ account, assemblyId, limit, until }) =>
        Effect.sync(() => {
          const places = placesOf(account)
          if (!places.has(assemblyId) && places.size >= limit) return false
          places.set(assemblyId, until)
          return true
        }),
      release: ({ account, assemblyId }) => Effect.sync(() => placesOf(account).delete(assemblyId)),
      overdue: ({ account, now, until }) =>
        Effect.sync(() => {
          const places = placesOf(account)
          const found = Array.from(places).flatMap(([assemblyId, held]) => (held <= now ? [assemblyId] : []))
          for (const assemblyId of found) places.set(assemblyId, until)
          return found
        })
    }
  })
)
