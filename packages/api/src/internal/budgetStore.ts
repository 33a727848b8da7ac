import * as Clock from "effect/Clock"
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
 * What the processes of an account share beside the counters of a `RateLimiterStore`. All times are durations in
 * milliseconds, because only the clock of the store counts: those of the processes may differ.
 *
 * - `pauseLeft`, `pause`: how long a pause still is. A pause never becomes shorter.
 * - `hold`: prolongs the place of an Assembly by `millis`, or takes one of `limit` places. False if all are taken.
 * - `release`: gives a place back.
 * - `overdue`: the Assemblies whose places nobody has prolonged in time. Prolongs these places by `millis`, so that only
 *   one program asks for each Assembly.
 *
 * @since 0.1.0
 * @category services
 */
export class BudgetStore extends Context.Service<
  BudgetStore,
  {
    readonly pauseLeft: (name: string) => Effect.Effect<number, BudgetStoreFailed>
    readonly pause: (name: string, millis: number) => Effect.Effect<void, BudgetStoreFailed>
    readonly hold: (options: {
      readonly account: string
      readonly assemblyId: string
      readonly limit: number
      readonly millis: number
    }) => Effect.Effect<boolean, BudgetStoreFailed>
    readonly release: (options: {
      readonly account: string
      readonly assemblyId: string
    }) => Effect.Effect<void, BudgetStoreFailed>
    readonly overdue: (options: {
      readonly account: string
      readonly millis: number
    }) => Effect.Effect<ReadonlyArray<string>, BudgetStoreFailed>
  }
>()("@assembly-effect/api/BudgetStore") {}

/** How long this process runs, in milliseconds. Nobody can set this clock. */
export const uptime = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/**
 * Keeps the pauses and the running Assemblies of one process.
 *
 * @since 0.1.0
 * @category layers
 */
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
      pauseLeft: (name) => Effect.map(uptime, (now) => Math.max(0, (pauses.get(name) ?? 0) - now)),
      pause: (name, millis) =>
        Effect.map(uptime, (now) => pauses.set(name, Math.max(now + millis, pauses.get(name) ?? 0))),
      hold: ({ account, assemblyId, limit, millis }) =>
        Effect.map(uptime, (now) => {
          const places = placesOf(account)
          if (!places.has(assemblyId) && places.size >= limit) return false
          places.set(assemblyId, now + millis)
          return true
        }),
      release: ({ account, assemblyId }) => Effect.sync(() => placesOf(account).delete(assemblyId)),
      overdue: ({ account, millis }) =>
        Effect.map(uptime, (now) => {
          const places = placesOf(account)
          const found = Array.from(places).flatMap(([assemblyId, held]) => (held <= now ? [assemblyId] : []))
          for (const assemblyId of found) places.set(assemblyId, now + millis)
          return found
        })
    }
  })
)
