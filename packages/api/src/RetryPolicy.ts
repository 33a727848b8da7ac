/**
 * Policies that decide whether an operation, an upload or a download continues after a failed request, and after which
 * pause.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as PerCall from "./unstable/PerCall.ts"
import type * as Operation from "./unstable/Operation.ts"

/**
 * A failed attempt.
 *
 * - `operation` and `retry`: the name of the operation and its `retry` rule. An upload (`"Upload"`), and a download after
 *   a 5xx, have the rule `"resumes"`: they do not repeat the failed request, but continue after the bytes that were
 *   transferred. They ask the policy only after failures from which they may recover in this way.
 * - `failures`: the number of consecutive failures.
 * - `error`: the tag, the code and the status of the error. `sent` and `permanent` come from a `TransportFailure`.
 * - `wait`: the pause that the response requested with `retryIn` or `Retry-After`, or the time until the budget
 *   of the account (`Budget`) permits the request.
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
 * Decides after each failed attempt: a `Schedule` whose input is the {@link Failure}. Its delay is the pause before the
 * next attempt, and its end gives up. The schedule starts again for each operation, upload and download, and after an
 * upload or a download has made progress.
 *
 * **Details**
 *
 * - The schedule is asked only about failures that {@link isRetryable} permits.
 * - If the response requests a longer pause than the schedule, the requested pause counts, up to 1 minute. If it is
 *   longer, the operation fails with the error of that response. {@link make} includes the requested pause in its delay
 *   and has its own limit, `maxWait`; a schedule can do this with `Schedule.modifyDelay`.
 * - Two repetitions need no policy: a refused token is replaced once in each attempt, and a wrong clock is corrected once
 *   in each operation.
 *
 * @example
 * const policy: RetryPolicy.Policy = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 3 }))
 *
 * @since 0.1.0
 * @category models
 */
export type Policy = Schedule.Schedule<unknown, Failure>

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
 * For `"resumes"` (uploads, and downloads after a 5xx) only the last rule applies, because the policy is asked only after
 * failures from which they may recover.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRetryable = ({ error, retry }: Pick<Failure, "error" | "retry">): boolean => {
  if (retry === "never" || error.permanent === true) return false
  if (retry === "resumes" || error._tag === "RateLimited" || error.sent === "no") return true
  if (retry !== "safe") return retry.includes(error.code ?? "")
  // Bad gateway, service unavailable and gateway timeout are temporary failures of the service or of its proxy.
  return error._tag === "TransportFailure" || error._tag === "TimedOut" || [502, 503, 504].includes(error.status ?? 0)
}

const Settings = Schema.Struct({
  retries: Schema.optional(Rules.whole(0)),
  base: Schema.optional(Rules.duration),
  maxPause: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration)
})

/**
 * - `retries`: the maximum number of retries, 4 by default.
 * - `base`: the maximum of the first pause, 250 ms by default. This maximum doubles with each failure. The pause is at
 *   least half of the maximum.
 * - `maxPause`: the maximum pause that the policy itself chooses, 10 seconds by default.
 * - `maxWait`: the maximum pause that a response may request, 1 minute by default. If a response requests a longer
 *   pause, the operation does not wait, but fails with the error of that response. After a rate limit, a program with a
 *   `Budget` waits as long as the response requests, and the policy is asked as after a first failure without a pause.
 *
 * Each duration must be positive and finite, and `retries` must be an integer of at least 0. If an option breaks one of
 * these rules, {@link layer} fails with `InvalidRequest`, and the effect of {@link make} is undefined.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("RetryPolicy.layer", Settings)

/** The longest pause, in milliseconds, that a response may request if the policy sets no other limit. */
const longest = 60_000

/** The requested pause in milliseconds, or 0. */
const asked = ({ wait }: Failure): number => (Option.isSome(wait) ? Duration.toMillis(wait.value) : 0)

/**
 * Makes a policy. The maximum of its pause is `base`, doubled by each further failure, up to `maxPause`. The pause is
 * random between half of the maximum and the maximum, so that clients that fail together do not retry together.
 *
 * If the response requests a pause (even a pause of zero), the policy waits for the requested pause plus a random part
 * of the maximum, so that clients that were refused together do not retry together.
 *
 * @example
 * Assemblies.list(query).pipe(RetryPolicy.withPolicy(RetryPolicy.make({ retries: 8 })))
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ base = 250, maxPause = 10_000, maxWait = longest, retries = 4 }: Options = {}): Policy =>
  Schedule.fromStep(
    Effect.succeed((_, failure: Failure) => {
      const { failures, wait } = failure
      if (failures > retries || asked(failure) > Duration.toMillis(maxWait)) return Cause.done()
      const most = Math.min(Duration.toMillis(base) * 2 ** (failures - 1), Duration.toMillis(maxPause))
      const range = Option.isSome(wait) ? most : most / 2
      return Effect.map(Random.next, (chance) => [
        undefined,
        Duration.millis(asked(failure) + most - range + range * chance)
      ])
    })
  )

/**
 * Makes the function that decides about the failures of one operation, upload or download. It returns the pause before
 * the next attempt, or `None` to give up. The schedule starts again when `failures` is 1.
 *
 * @since 0.1.0
 * @category utilities
 */
export const pauses = (policy: Policy): ((failure: Failure) => Effect.Effect<Option.Option<Duration.Duration>>) => {
  let step: Effect.Success<ReturnType<typeof Schedule.toStep<unknown, Failure, never, never>>> | undefined
  return Effect.fnUntraced(function* (failure) {
    if (!isRetryable(failure)) return Option.none()
    if (step === undefined || failure.failures === 1) step = yield* Schedule.toStep(policy)
    const wait = asked(failure)
    return yield* step(yield* Clock.currentTimeMillis, failure).pipe(
      Effect.map(([, pause]) => {
        const own = Duration.toMillis(pause)
        return wait > Math.max(own, longest) ? Option.none() : Option.some(Duration.millis(Math.max(own, wait)))
      }),
      Pull.catchDone(() => Effect.succeedNone)
    )
  })
}

/**
 * The policy of operations if no other policy is set: {@link make} with its defaults. `Upload.Options` describes the
 * default policy of uploads.
 *
 * @since 0.1.0
 * @category utilities
 */
export const standard: Policy = make()

/** Gives up after the first attempt. */
const giveUp: Policy = make({ retries: 0 })

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
 * Runs an Effect or a Stream with another policy.
 *
 * @example
 * Assemblies.list(query).pipe(RetryPolicy.withPolicy(Schedule.recurs(2)))
 *
 * @since 0.1.0
 * @category combinators
 */
export const withPolicy = (policy: Policy): PerCall.Combinator => PerCall.provide(RetryPolicy, policy)

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
export const layer = (options: Options): Layer.Layer<never, InvalidRequest> =>
  Layer.effect(RetryPolicy, Effect.map(decode(options), make))

/**
 * Disables retries for a client or a program, as {@link none} does for one call.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<never> = Layer.succeed(RetryPolicy, giveUp)
