/**
 * The budget of an account, as far as requests know it: each request asks it before it is signed. Without a budget every
 * request is sent at once. `@assembly-effect/api/Budget` makes budgets.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/**
 * The budget gave no permit, so nothing was sent. If the wait would end after the deadline of the caller, `wait` is the
 * estimated time until a permit. If the store of the budget failed, `wait` is `None`.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotAdmitted extends Data.TaggedError("NotAdmitted")<{ readonly wait: Option.Option<Duration.Duration> }> {
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
 * How often whoever watches an Assembly prolongs its place.
 *
 * @since 0.1.0
 * @category utilities
 */
export const renewal = "1 minute"

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
 * Is told of waits for the budget.
 *
 * - `waits`: a request begins to wait: why, and until when as far as it is known, in milliseconds since 1970.
 * - `waited`: it has waited for this time, in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listener {
  readonly waits: (waiting: { readonly reason: string; readonly until: number }) => Effect.Effect<void>
  readonly waited?: (millis: number) => void
}

/**
 * Who is told of waits, the innermost first.
 *
 * @since 0.1.0
 * @category references
 */
export const Listeners = Context.Reference<ReadonlyArray<Listener>>("@assembly-effect/auth/unstable/Budget/Listeners", {
  defaultValue: () => []
})

/**
 * Tells the waits of an effect, beside those who are told already.
 *
 * @since 0.1.0
 * @category combinators
 */
export const telling = <A, E, R>(effect: Effect.Effect<A, E, R>, listener: Listener): Effect.Effect<A, E, R> =>
  Effect.updateService(effect, Listeners, (outer) => [listener, ...outer])

/**
 * Limits the time of an effect, not counting its waits for the budget.
 *
 * @since 0.1.0
 * @category combinators
 */
export const timeoutOrElse = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  { duration, orElse }: { readonly duration: Duration.Duration; readonly orElse: () => Effect.Effect<never, E2> }
): Effect.Effect<A, E | E2, R> =>
  Effect.suspend(() => {
    let further = 0
    const late = (millis: number): Effect.Effect<never, E2> =>
      Effect.flatMap(Effect.sleep(millis), () => {
        const more = further
        further = 0
        return more > 0 ? late(more) : orElse()
      })
    const waits: Listener["waits"] = ({ until }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        further += Math.max(0, until - now)
      })
    return Effect.raceFirst(telling(effect, { waits }), late(Duration.toMillis(duration)))
  })

/**
 * Whether the next request waits in the budget for the pause that this error names. Then the error counts as no failed
 * attempt.
 *
 * @since 0.1.0
 * @category predicates
 */
export const holds = (
  budget: Budget | undefined,
  error: { readonly _tag: string; readonly status?: number; readonly retryAfter?: Duration.Duration | undefined }
): boolean =>
  budget !== undefined &&
  error._tag === "RateLimited" &&
  error.status !== undefined &&
  error.retryAfter !== undefined &&
  !Duration.isZero(error.retryAfter)
