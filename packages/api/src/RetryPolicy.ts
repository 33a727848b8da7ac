/**
 * When a failed request is sent again, and after which pause.
 */
import * as Settings from "@assembly-effect/auth/Settings"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as ApiError from "./ApiError.ts"
import type * as Operation from "./Operation.ts"

/**
 * A failed attempt: of which operation, what its description says about retries, how many attempts have failed so far,
 * the error's tag and, where there was an answer, its code and status, and the wait that the answer named by `retryIn`
 * or `Retry-After`. `sent` and `permanent` are those of a `TransportFailure`.
 */
export interface Failure {
  readonly operation: string
  readonly retry: Operation.Retry
  readonly failures: number
  readonly error: {
    readonly _tag: string
    readonly code?: string
    readonly status?: number
    readonly sent?: "no" | "maybe"
    readonly permanent?: boolean
  }
  readonly wait: Option.Option<Duration.Duration>
}

/**
 * Decides after each failed attempt: the pause before the next one, or none to give up.
 */
export interface Policy {
  readonly next: (failure: Failure) => Effect.Effect<Option.Option<Duration.Duration>>
}

/** Bad gateway, unavailable, gateway timeout: somebody between us and the service, or the service for a moment. */
const passing: ReadonlySet<number | undefined> = new Set([502, 503, 504])

/**
 * Whether repeating is safe and may help.
 *
 * - After `RateLimited` always, unless the operation is never to be repeated: the service refused before it worked.
 * - After a request that has not left, in the same way.
 * - Never after a `permanent` failure: an unknown host, a certificate that is not trusted.
 * - An operation that does no harm twice: after a lost answer, and on 502, 503 and 504, whatever their body says.
 * - A change: after the codes for which the service says so, else not.
 */
export const isRetryable = ({ error, retry }: Pick<Failure, "error" | "retry">): boolean => {
  if (retry === "never") return false
  if (error.permanent === true) return false
  if (error._tag === "RateLimited" || error.sent === "no") return true
  if (retry !== "safe") return error.code !== undefined && retry.includes(error.code)
  return error._tag === "TransportFailure" || error._tag === "TimedOut" || passing.has(error.status)
}

/**
 * - `retries`: how often at most, 4 by default.
 * - `base`: the first pause, 250 ms by default; it doubles with each failure.
 * - `maxPause`: of our own pauses, 10 seconds by default.
 * - `maxWait`: of the wait that an answer names, 1 minute by default. A longer one is not shortened: the error is told
 *   instead, with the wait.
 *
 * Each duration is positive and finite, and `retries` a whole number; else the Layer fails with `InvalidRequest`.
 */
export interface Options {
  readonly retries?: number | undefined
  readonly base?: Duration.Input | undefined
  readonly maxPause?: Duration.Input | undefined
  readonly maxWait?: Duration.Input | undefined
}

const withLimits = (options: Options): Policy => {
  const retries = options.retries ?? 4
  const base = Duration.toMillis(options.base ?? 250)
  const maxPause = Duration.toMillis(options.maxPause ?? 10_000)
  const maxWait = Duration.toMillis(options.maxWait ?? 60_000)

  return {
    next: (failure) => {
      const wait = Option.map(failure.wait, Duration.toMillis)
      const tooLong = Option.isSome(wait) && wait.value > maxWait
      if (failure.failures > retries || tooLong || !isRetryable(failure)) return Effect.succeedNone
      const pause = Math.min(base * 2 ** Math.min(failure.failures - 1, 30), maxPause)
      return Effect.map(Random.next, (chance) =>
        Option.some(Duration.millis(Option.isSome(wait) ? wait.value + pause * chance : pause * (0.5 + chance / 2)))
      )
    }
  }
}

/**
 * A policy that retries what {@link isRetryable} allows.
 *
 * Our own pauses are between half and the whole of the doubling time. A wait that the answer names, 0 too, is kept at
 * least, with up to one such pause on top, so that clients that were refused together do not come back together.
 */
export const make = (options: Options = {}): Effect.Effect<Policy, ApiError.InvalidRequest> => {
  const issues = Settings.issues({
    retries: Settings.whole(options.retries, 0),
    base: Settings.duration(options.base),
    maxPause: Settings.duration(options.maxPause),
    maxWait: Settings.duration(options.maxWait)
  })
  return issues.length === 0
    ? Effect.succeed(withLimits(options))
    : Effect.fail(new ApiError.InvalidRequest({ operation: "RetryPolicy.layer", issues }))
}

/** The policy where no other is provided: {@link make} with its defaults. */
export const standard: Policy = withLimits({})

/** Gives up after the first attempt. */
export const none: Policy = { next: () => Effect.succeedNone }

/**
 * The policy of an operation: the one that is provided for the call, else the one that its client was built with, else
 * {@link standard}.
 *
 * @example
 * AssemblyClient.layer({ baseUrl }).pipe(Layer.provide(RetryPolicy.layer({ retries: 8 })))
 *
 * @example
 * Assemblies.get(assemblyId).pipe(Effect.provide(RetryPolicy.layerNone))
 */
export const RetryPolicy = Context.Reference<Policy | undefined>("@assembly-effect/api/RetryPolicy", {
  defaultValue: () => undefined
})

/** Another number of retries, other pauses; for a client, or for one call. */
export const layer = (options: Options): Layer.Layer<never, ApiError.InvalidRequest> =>
  Layer.effect(RetryPolicy, make(options))

/** No retries: every failure is told at once. */
export const layerNone: Layer.Layer<never> = Layer.succeed(RetryPolicy, none)
