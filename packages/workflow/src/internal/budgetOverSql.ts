/** Makes the budget of an account in the database of this process. */
import * as Budget from "@assembly-effect/api/Budget"
import * as BudgetSettings from "@assembly-effect/api/unstable/BudgetSettings"
import * as Effect from "effect/Effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as BudgetPlaces from "./budgetPlaces.ts"
import * as BudgetRates from "./budgetRates.ts"
import * as BudgetTables from "./budgetTables.ts"
import type { Secrets } from "./secrets.ts"
import * as StoreError from "./storeError.ts"

export const make = Effect.fnUntraced(function* (secrets: Secrets, options: Budget.Options | undefined) {
  yield* Effect.mapError(BudgetTables.create, StoreError.of("migrate"))
  const limiter = yield* Effect.provideServiceEffect(RateLimiter.make, RateLimiter.RateLimiterStore, BudgetRates.make)
  return yield* BudgetSettings.make(options).pipe(
    Effect.provideService(RateLimiter.RateLimiter, limiter),
    Effect.provideServiceEffect(Budget.BudgetStore, BudgetPlaces.make(secrets))
  )
})
