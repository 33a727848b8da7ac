/**
 * When a failed request is sent again, and after which pause. Operations and uploads have the same policies.
 */
import * as Settings from "@assembly-effect/auth/unstable/Settings"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as Clock from "effect/Clock"
import * as PerCall from "./PerCall.ts"
import * as ApiError from "./ApiError.ts"
import type * as Operation from "./Operation.ts"

/**
 * A failed attempt: of which operation, what its description says about retries, how many attempts have failed so far,
 * the error's tag and, where there was an answer, its code and status, and the wait that the answer named by `retryIn`
 * or `Retry-After`. `sent` and `permanent` are those of a `TransportFailure`.
 *
 * For an upload `operation` is `"Upload"` and `retry` is `"resumes"`: it does not repeat the request, but asks the server
 * where it is and continues from there. It reports only failures that this can heal. `failures` counts those in a row.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly operation: string
  readonly retry: Operation.Retry | "resumes"
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
 *
 * `start` begins to count for one operation, or for an upload that has made progress, so that a policy may remember what
 * it was asked before.
 *
 * @since 0.1.0
 * @category models
 */
export interface Policy {
  readonly start: Effect.Effect<(failure: Failure) => Effect.Effect<Option.Option<Duration.Duration>>>
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
 * - An upload that resumes: always, since it reports only what that can heal.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRetryable = ({ error, retry }: Pick<Failure, "error" | "retry">): boolean => {
  if (retry === "never") return false
  if (error.permanent === true) return false
  if (retry === "resumes") return true
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
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly retries?: number | undefined
  readonly base?: Duration.Input | undefined
  readonly maxPause?: Duration.Input | undefined
  readonly maxWait?: Duration.Input | undefined
}

/** The longest pause after so many failures in a row, in milliseconds. */
const doubled = (base: number, maxPause: number, failures: number): number =>
  Math.min(base * 2 ** Math.min(failures - 1, 30), maxPause)

/**
 * The pause after so many failures in a row: `base`, doubled by each further failure, at most `maxPause`; of that between
 * half and the whole, so that clients that fail together do not come back together.
 *
 * @since 0.1.0
 * @category utilities
 */
export const backOff = (
  { base, maxPause }: { readonly base: Duration.Input; readonly maxPause: Duration.Input },
  failures: number
): Effect.Effect<Duration.Duration> => {
  const pause = doubled(Duration.toMillis(base), Duration.toMillis(maxPause), failures)
  return Effect.map(Random.next, (chance) => Duration.millis(pause * (0.5 + chance / 2)))
}

/** Whether the wait that the answer names is longer than anybody waits, which is told in milliseconds. */
const isTooLong = ({ wait }: Failure, maxWait: number): boolean =>
  Option.isSome(wait) && Duration.toMillis(wait.value) > maxWait

/**
 * Does what {@link make} does with options that were checked before. A limit that breaks a rule has no defined effect.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeUnsafe = (options: Options): Policy => {
  const retries = options.retries ?? 4
  const base = Duration.toMillis(options.base ?? 250)
  const maxPause = Duration.toMillis(options.maxPause ?? 10_000)
  const maxWait = Duration.toMillis(options.maxWait ?? 60_000)

  const next = (failure: Failure): Effect.Effect<Option.Option<Duration.Duration>> => {
    const { failures, wait } = failure
    if (failures > retries || isTooLong(failure, maxWait) || !isRetryable(failure)) return Effect.succeedNone
    if (Option.isNone(wait)) return Effect.asSome(backOff({ base, maxPause }, failures))
    const pause = doubled(base, maxPause, failures)
    return Effect.map(Random.next, (chance) =>
      Option.some(Duration.millis(Duration.toMillis(wait.value) + pause * chance))
    )
  }
  return { start: Effect.succeed(next) }
}

/**
 * A policy that retries what {@link isRetryable} allows.
 *
 * Our own pauses are between half and the whole of the doubling time. A wait that the answer names, 0 too, is kept at
 * least, with up to one such pause on top, so that clients that were refused together do not come back together.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Policy, ApiError.InvalidRequest> => {
  const issues = Settings.issues({
    retries: Settings.whole(options.retries, 0),
    base: Settings.duration(options.base),
    maxPause: Settings.duration(options.maxPause),
    maxWait: Settings.duration(options.maxWait)
  })
  return issues.length === 0
    ? Effect.succeed(makeUnsafe(options))
    : Effect.fail(new ApiError.InvalidRequest({ operation: "RetryPolicy.layer", issues }))
}

/**
 * The policy of an operation where no other is provided: {@link make} with its defaults. The one of an upload is described
 * by `Upload.Options`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const standard: Policy = makeUnsafe({})

/**
 * A policy that pauses as a `Schedule` of Effect says, and gives up when that ends. Its input is the {@link Failure}.
 *
 * What {@link isRetryable} does not allow is not repeated, whatever the schedule says. A wait that the answer names is
 * kept at least, and not repeated where it is longer than `maxWait`, 1 minute by default.
 *
 * @example
 * RetryPolicy.fromSchedule(Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 3 })))
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromSchedule = <Output>(
  schedule: Schedule.Schedule<Output, Failure>,
  options?: { readonly maxWait?: Duration.Input | undefined }
): Policy => {
  const maxWait = Duration.toMillis(options?.maxWait ?? 60_000)
  return {
    start: Effect.map(Schedule.toStep(schedule), (step) => (failure) => {
      if (isTooLong(failure, maxWait) || !isRetryable(failure)) return Effect.succeedNone
      return Effect.flatMap(Clock.currentTimeMillis, (now) => step(now, failure)).pipe(
        Effect.map(([, pause]) =>
          Option.some(Option.match(failure.wait, { onNone: () => pause, onSome: Duration.max(pause) }))
        ),
        Pull.catchDone(() => Effect.succeedNone)
      )
    })
  }
}

/** Gives up after the first attempt. */
const giveUp: Policy = { start: Effect.succeed(() => Effect.succeedNone) }

/**
 * The policy of an operation: the one that the call says, else the one that its client was built with, else
 * {@link standard}. The policy of an upload: the one that the call says, else what its options describe.
 *
 * @example
 * AssemblyClient.layer({ baseUrl }).pipe(Layer.provide(RetryPolicy.layer({ retries: 8 })))
 *
 * @example
 * Assemblies.get(assemblyId).pipe(RetryPolicy.none)
 *
 * @example
 * Upload.run(target, source, options).pipe(RetryPolicy.none)
 *
 * @since 0.1.0
 * @category references
 */
export const RetryPolicy = Context.Reference<Policy | undefined>("@assembly-effect/api/RetryPolicy", {
  defaultValue: () => undefined
})

/**
 * Runs an Effect or a Stream with another policy, or with the policy of a `Schedule` ({@link fromSchedule}).
 *
 * @example
 * Assemblies.list(query).pipe(RetryPolicy.withPolicy(Schedule.recurs(2)))
 *
 * @since 0.1.0
 * @category combinators
 */
export const withPolicy = <Output>(policy: Policy | Schedule.Schedule<Output, Failure>): PerCall.Combinator =>
  PerCall.provide(RetryPolicy, Schedule.isSchedule(policy) ? fromSchedule(policy) : policy)

/**
 * Runs an Effect or a Stream without retries: every failure is told at once.
 *
 * @example
 * Assemblies.list(query).pipe(RetryPolicy.none)
 *
 * @since 0.1.0
 * @category combinators
 */
export const none: PerCall.Combinator = /* @__PURE__ */ PerCall.provide(RetryPolicy, giveUp)

/**
 * Another number of retries, other pauses; for a client, or for one call.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never, ApiError.InvalidRequest> =>
  Layer.effect(RetryPolicy, make(options))

/**
 * No retries: every failure is told at once.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<never> = Layer.succeed(RetryPolicy, giveUp)
