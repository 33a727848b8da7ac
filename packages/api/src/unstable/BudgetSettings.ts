/** What makes a budget over any stores, for hosts of jobs that bring their own stores. */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Schema from "effect/Schema"
import * as Budget from "../internal/budget.ts"
import * as Store from "../internal/budgetStore.ts"

const quota = Schema.optional(Schema.Union([Rules.whole(1), Schema.Literal(false)]))

/**
 * The rules of `Budget.Options`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Settings = Schema.Struct({
  created: quota,
  running: quota,
  requests: Schema.optional(Rules.whole(1)),
  account: Schema.optional(Rules.notBlank.check(Schema.isMaxLength(200)))
})

const decode = Rules.decoder("Budget.layer", Settings)

/**
 * Makes a budget over the stores in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (options: Schema.Codec.Encoded<typeof Settings> = {}) {
  const { account = "default", created, requests, running } = yield* decode(options)
  const settings = { account, created, requests, running }
  return Budget.make(yield* RateLimiter.RateLimiter, yield* Store.BudgetStore, settings)
})
