/**
 * The budget of an account, as far as requests know it: each request asks it before it is signed. Without a budget every
 * request is sent at once. `@assembly-effect/api/Budget` makes budgets.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/**
 * The budget gave no permit, so nothing was sent. If the wait would end after the deadline of the caller, `wait` is the
 * estimated time until a permit. If the store of the budget failed, `wait` is `None`.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotAdmitted extends Data.TaggedError("NotAdmitted")<{
  readonly wait: Option.Option<Duration.Duration>
}> {
  override get message() {
    return this.wait._tag === "None"
      ? "the store of the budget failed; no request was sent"
      : `the budget of the account has no permit for ${Duration.toSeconds(this.wait.value)} s; no request was sent`
  }
}

/**
 * What a request needs: a `creation` is a request that makes the service run an Assembly.
 *
 * @since 0.1.0
 * @category models
 */
export type Need = "request" | "creation"

/**
 * A request that asks for its permit.
 *
 * - `url`: where the request goes. Quotas that are on by default apply to the origins of the public service only.
 * - `until`: the explicit deadline of the caller, in milliseconds since 1970, or `Infinity`.
 * - `assemblyId`: the Assembly that a creation makes, if its id is known.
 *
 * @since 0.1.0
 * @category models
 */
export interface Asking {
  readonly url: string
  readonly need: Need
  readonly until: number
  readonly assemblyId?: string | undefined
}

/**
 * The budget of an account.
 *
 * - `enter`: waits for the permit of a request. Fails as soon as the wait is known to end after `until`. After a failure
 *   or an interruption no permit is used.
 * - `pause`: the service requested a pause: nobody who shares the store gets a permit until then.
 * - `keep`: an Assembly still runs. Prolongs its place among the running Assemblies, or takes a free place. Never waits.
 * - `release`: an Assembly has ended, so its place is free.
 *
 * @since 0.1.0
 * @category models
 */
export interface Budget {
  readonly enter: (asking: Asking) => Effect.Effect<void, NotAdmitted>
  readonly pause: (need: Need, wait: Duration.Duration) => Effect.Effect<void>
  readonly keep: (url: string, assemblyId: string) => Effect.Effect<void>
  readonly release: (url: string, assemblyId: string) => Effect.Effect<void>
}

/**
 * The budget in the context, if any. `AssemblyClient` and `Tokens` use the budget that was in their context when they
 * were built; a budget in the context of a call takes precedence.
 *
 * @since 0.1.0
 * @category references
 */
export const Budget = Context.Reference<Budget | undefined>("@assembly-effect/auth/unstable/Budget", {
  defaultValue: () => undefined
})

/**
 * A program that watches an Assembly to its end. A creation takes a place among the running Assemblies only for such a
 * program.
 *
 * - `isRunning`: reads the Status of an Assembly whose holder has died. True also if the Status cannot be read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Watcher {
  readonly isRunning: (assemblyId: string) => Effect.Effect<boolean>
}

/**
 * The {@link Watcher} of the Assembly that a request creates, if any.
 *
 * @since 0.1.0
 * @category references
 */
export const Watcher = Context.Reference<Watcher | undefined>("@assembly-effect/auth/unstable/Budget/Watcher", {
  defaultValue: () => undefined
})

/**
 * Is told when a request begins to wait: why, and until when, as far as it is known, in milliseconds since 1970.
 *
 * @since 0.1.0
 * @category references
 */
export const Listener = Context.Reference<(waiting: { readonly reason: string; readonly until: number }) => void>(
  "@assembly-effect/auth/unstable/Budget/Listener",
  { defaultValue: () => () => undefined }
)

/**
 * Whether the next request waits in the budget for the pause that this error names. Then the error counts as no failed
 * attempt.
 *
 * @since 0.1.0
 * @category predicates
 */
export const holds = (
  budget: Budget | undefined,
  error: { readonly _tag: string; readonly retryAfter?: Duration.Duration | undefined }
): boolean =>
  budget !== undefined &&
  error._tag === "RateLimited" &&
  error.retryAfter !== undefined &&
  !Duration.isZero(error.retryAfter)
