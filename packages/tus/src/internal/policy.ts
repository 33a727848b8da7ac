/**
 * Decides which failures are temporary, and how long to pause after them.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { Emit } from "./events.ts"
import type { SharedOptions } from "./options.ts"
import type { SourceFailed } from "./source.ts"
import type * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"

/**
 * The retry policy and the time limits of one upload. `retryDelay` is the first pause of {@link pollDelay}.
 */
export interface Policy {
  readonly retry: RetryPolicy.Policy
  readonly retryDelay: Duration.Duration
  readonly stallTimeout: Duration.Duration
  readonly finishTimeout: Duration.Duration
}

/** The errors of a request after the creation. */
export type RequestError =
  | TusError.AnswerError
  | ApiError.TransportFailure
  | TusError.Stalled
  | TusError.UploadMismatch
  | TusError.UploadUntrusted
  | SourceFailed

const healing: ReadonlySet<string> = new Set([
  "TransportFailure",
  "ServerFailure",
  "RateLimited",
  "UploadLocked",
  "OffsetConflict",
  "ChecksumMismatch",
  "Stalled",
  // An invalid response says nothing about the bytes, so the offset is requested.
  "ProtocolViolation"
] satisfies ReadonlyArray<RequestError["_tag"]>)

/**
 * Whether it may help to request the offset and to continue from this offset. A retry does not help if the network, the
 * runtime or the HTTP client would refuse the next request too (`permanent`).
 */
export const canHeal = (error: { readonly _tag: string; readonly permanent?: boolean }): boolean =>
  healing.has(error._tag) && error.permanent !== true

const maxDelay = Duration.seconds(30)

/**
 * The policy of an upload with these options. `said` is the `RetryPolicy` that the program provides, which the options
 * limit further.
 */
export const make = (said: RetryPolicy.Policy | undefined, options: SharedOptions): Policy => {
  const { finishTimeout = Duration.minutes(10), maxRetries, maxWait, stallTimeout = Duration.seconds(30) } = options
  const retryDelay = Duration.fromInputUnsafe(options.retryDelay ?? 500)
  const longest = maxWait === undefined ? Infinity : Duration.toMillis(maxWait)
  const isOver = ({ failures, wait }: RetryPolicy.Failure): boolean =>
    failures > (maxRetries ?? Infinity) || Option.exists(wait, (time) => Duration.toMillis(time) > longest)
  return {
    retry:
      said === undefined
        ? RetryPolicy.make({
            retries: maxRetries ?? 8,
            base: retryDelay,
            maxPause: maxDelay,
            maxWait: maxWait ?? Duration.hours(1)
          })
        : Schedule.fromStep(
            Effect.map(
              Schedule.toStep(said),
              (step) => (now, failure) => (isOver(failure) ? Cause.done() : step(now, failure))
            )
          ),
    retryDelay,
    stallTimeout: Duration.fromInputUnsafe(stallTimeout),
    finishTimeout: Duration.fromInputUnsafe(finishTimeout)
  }
}

/** The wait that a server requests, if this wait is not zero. */
const asked = (error: RequestError): Option.Option<Duration.Duration> =>
  error._tag === "RateLimited" || error._tag === "ServerFailure"
    ? Option.filter(Option.fromUndefinedOr(error.retryAfter), (wait) => !Duration.isZero(wait))
    : Option.none()

/** Pauses after the given number of consecutive failures. Fails with the error if a retry does not help any more. */
export type Retry = <E extends RequestError>(failures: number, error: E) => Effect.Effect<void, E>

/**
 * Makes a function that pauses after consecutive failures, as the policy decides. If the next request waits in the budget
 * of the account for the pause that the server requested, the failure does not count.
 */
export const retrying = ({ retry }: Policy, emit: Emit): Retry => {
  const pauseAfter = RetryPolicy.pauses(retry)
  let held = 0
  return (count, error) =>
    Effect.gen(function* () {
      const isHeld = Budget.holds(yield* Budget.Budget, error)
      held = (count === 1 ? 0 : held) + (isHeld ? 1 : 0)
      const failures = Math.max(1, count - held)
      const wait = isHeld ? Option.none() : asked(error)
      const failure = { operation: "Upload", retry: "resumes", failures, error, wait } as const
      const pause = canHeal(error) ? yield* pauseAfter(failure) : Option.none()
      if (Option.isNone(pause)) return yield* Effect.fail(error)
      emit(UploadEvent.Retrying({ attempt: failures, delay: pause.value, reason: error.message }))
      yield* Effect.sleep(pause.value)
    })
}

/** The pause between two requests for a state that another side changes, which doubles with each request. */
export const pollDelay = ({ retryDelay }: Policy, questions: number): Duration.Duration =>
  Duration.millis(Math.min(Duration.toMillis(retryDelay) * 2 ** (questions - 1), Duration.toMillis(maxDelay)))
