/**
 * Policies that decide whether an operation, an upload or a download continues after a failed request, and after which
 * pause.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Clock from "effect/Clock"
import * as PerCall from "./PerCall.ts"
import * as Repeatable from "./internal/repeatable.ts"
import type * as Operation from "./Operation.ts"

/**
 * A failed attempt.
 *
 * - `operation` and `retry`: the name of the operation and its `retry` rule. An upload (`"Upload"`) and a source that
 *   reads a URL (`"WebSource.fromUrl"`) have the rule `"resumes"`: they do not repeat the failed request, but continue
 *   after the bytes that were transferred. They ask the policy only after failures from which they may recover in this
 *   way.
 * - `failures`: the number of consecutive failures.
 * - `error`: the tag, the code and the status of the error. `sent` and `permanent` come from a `TransportFailure`.
 * - `wait`: the pause that the response requested with `retryIn` or `Retry-After`, or the time until the program's own
 *   rate limiter (`Guard`) permits the request.
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
 * Decides after each failed attempt: returns the pause before the next attempt, or `None` to give up. If an operation
 * changes something, and its failure leaves open whether the service has made the change, the operation fails without a
 * question to the policy.
 *
 * `start` begins a new count of failures: for each operation, upload and download, and again after an upload or a
 * download has made progress. The result of `start` is the function that decides. This function may remember the
 * failures since `start`.
 *
 * The policy does not decide about two repetitions: a refused token is replaced once in each attempt, and a wrong clock
 * is corrected once in each operation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Policy {
  readonly start: Effect.Effect<(failure: Failure) => Effect.Effect<Option.Option<Duration.Duration>>>
}

/** Bad gateway, service unavailable and gateway timeout: temporary failures of the service or of its proxy. */
const passing: ReadonlySet<number | undefined> = new Set([502, 503, 504])

/**
 * Whether a retry is safe and may help. Each of these rules must hold:
 *
 * - The operation may be repeated at all: its `retry` is not `"never"`.
 * - If the operation changes something, the service did nothing (`RateLimited`, or the request was not sent), or the
 *   error has one of the codes for which the service permits a retry.
 * - If the operation is safe to repeat, the failure is `RateLimited`, a request that was not sent, a lost or late
 *   response, or the status 502, 503 or 504, whatever the body says.
 * - The failure is not `permanent`, such as an unknown host or an untrusted certificate.
 *
 * For `"resumes"` (uploads, and sources that read a URL) only the last rule applies, because the policy is asked only
 * after failures from which they may recover.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRetryable = ({ error, retry }: Pick<Failure, "error" | "retry">): boolean => {
  if (!Repeatable.isRepeatable({ error, retry }) || error.permanent === true) return false
  if (retry !== "safe" || Repeatable.didNothing(error)) return true
  return error._tag === "TransportFailure" || error._tag === "TimedOut" || passing.has(error.status)
}

/**
 * - `retries`: the maximum number of retries, 4 by default.
 * - `base`: the maximum of the first pause, 250 ms by default. This maximum doubles with each failure. The pause is at
 *   least half of the maximum.
 * - `maxPause`: the maximum pause that the policy itself chooses, 10 seconds by default.
 * - `maxWait`: the maximum pause that a response may request, 1 minute by default. If a response requests a longer
 *   pause, the operation does not wait, but fails with the error of that response.
 *
 * Each duration must be positive and finite, and `retries` must be an integer of at least 0. If an option breaks one of
 * these rules, {@link layer} and {@link make} fail with `InvalidRequest`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Settings = Schema.Struct({
  retries: Schema.optional(Rules.whole(0)),
  base: Schema.optional(Rules.duration),
  maxPause: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration)
})

/**
 * The encoded {@link Settings}.
 *
 * @since 0.1.0
 * @category models
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("RetryPolicy.layer", Settings)

/** The longest pause after the given number of consecutive failures, in milliseconds. */
const doubled = (base: number, maxPause: number, failures: number): number =>
  Math.min(base * 2 ** Math.min(failures - 1, 30), maxPause)

/**
 * The pause after the given number of consecutive failures. Its maximum is `base`, doubled by each further failure, up
 * to `maxPause`. The pause is random between half of the maximum and the maximum, so that clients that fail together do
 * not retry together.
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

/** Whether the response requests a longer pause than `maxWait`, so that the operation fails. */
const isTooLong = ({ wait }: Failure, maxWait: number): boolean =>
  Option.isSome(wait) && Duration.toMillis(wait.value) > maxWait

/**
 * Does the same as {@link make}, but does not check the options. The effect of an invalid option is undefined.
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
 * Makes a policy that retries the failures that {@link isRetryable} permits.
 *
 * Without a requested pause, the policy uses the pauses of {@link backOff}. If the response requests a pause (even a
 * pause of zero), the policy waits for the requested pause plus a random part of the maximum that {@link backOff} would
 * have, so that clients that were refused together do not retry together.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Policy, InvalidRequest> =>
  Effect.map(decode(options), makeUnsafe)

/**
 * The policy of operations if no other policy is set: {@link make} with its defaults. `Upload.Options` describes the
 * default policy of uploads.
 *
 * @since 0.1.0
 * @category utilities
 */
export const standard: Policy = makeUnsafe({})

/**
 * Makes a policy with the pauses of a `Schedule`. The policy gives up when the schedule ends. The input of the schedule
 * is the {@link Failure}.
 *
 * The result is a policy, not a combinator: use it as the value of {@link RetryPolicy}, or as the argument of
 * `withPolicy`. {@link withPolicy} also takes a `Schedule` directly, so `withPolicy` needs `fromSchedule` only to set
 * `maxWait`.
 *
 * Failures that {@link isRetryable} does not permit are never retried. If the response requests a pause, the policy
 * waits at least that long. If the requested pause is longer than `maxWait` (1 minute by default), the policy gives up.
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
 * Operations use the policy of the call, else the policy in the context when the client was built, else
 * {@link standard}. An upload or a download uses the policy in its own context, from `withPolicy`, `none` or a Layer.
 * Without such a policy, the options of an upload describe its policy, and a download uses {@link standard}.
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
 * Runs an Effect or a Stream without retries: the policy gives up after the first error. A refused token is still
 * replaced once, and a wrong clock is still corrected once.
 *
 * @example
 * Assemblies.list(query).pipe(RetryPolicy.none)
 *
 * @since 0.1.0
 * @category combinators
 */
export const none: PerCall.Combinator = PerCall.provide(RetryPolicy, giveUp)

/**
 * Sets the number of retries and the pauses, for a client or for one call.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never, InvalidRequest> => Layer.effect(RetryPolicy, make(options))

/**
 * Disables retries for a client or a program, as {@link none} does for one call.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<never> = Layer.succeed(RetryPolicy, giveUp)
