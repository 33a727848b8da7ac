/**
 * Runs one call of an operation: its requests, each with its own proof, until one of them has an outcome.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as AuthError from "@assembly-effect/auth/AuthError"
import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import type * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import type * as Sender from "@assembly-effect/auth/unstable/Sender"
import type { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../unstable/Operation.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import * as Exchange from "../unstable/Exchange.ts"
import * as ClockSkew from "./clockSkew.ts"
import * as Request from "./request.ts"
import * as Response from "./response.ts"
import * as Telemetry from "../unstable/Telemetry.ts"

/** The dependencies that all attempts of a client share. */
export interface Environment {
  readonly baseUrl: SecureUrl
  readonly authenticator: Authenticator.Authenticator["Service"]
  readonly http: HttpClient.HttpClient
  readonly send: Sender.Sender
  readonly maxBytes: number
  readonly skew: ClockSkew.Skew
}

/**
 * The limits of one call. Times are in milliseconds.
 *
 * - `requestTimeout`: the time limit of each request, measured from the moment it is sent.
 * - `attemptTime`: the time limit of each attempt: its requests, and the time to get a token. Pauses between attempts do
 *   not count.
 * - `until`: the time when the call must have ended, not counting its waits for the budget.
 * - `deadline`: the time when the call must have ended in any case, or `Infinity`.
 */
export interface Limits {
  readonly clock: Clock.Clock
  readonly policy: RetryPolicy.Policy
  readonly budget: Budget.Budget | undefined
  readonly requestTimeout: number
  readonly attemptTime: number
  readonly until: number
  readonly deadline: number
}

/**
 * Converts an error of the authentication to the error of the operation, whose request was not sent.
 */
const toFailed = (subject: Exchange.Subject, error: AuthError.AuthError): Response.Failed => {
  const { code, message: description }: AuthError.AuthError & { readonly code?: string } = error
  const told = { ...subject, ...(code === undefined ? undefined : { code }), description, cause: error }
  switch (error._tag) {
    case "TokenRateLimited": {
      const { retryAfter, status } = error
      const refused = status === undefined ? told : { ...told, status }
      return Response.failed(new ApiError.RateLimited({ ...refused, retryAfter }))
    }
    case "TokenUnavailable":
      return {
        error: new ApiError.TransportFailure({ ...told, sent: "no", permanent: error.permanent }),
        wait: Option.fromUndefinedOr(error.retryAfter)
      }
    case "UnexpectedTokenResponse": {
      const { status } = error
      const about = { ...told, status, description: `no token, ${error.description}`, excerpt: "" }
      return Response.failed(new ApiError.UnexpectedResponse(about))
    }
    default:
      return Response.failed(new ApiError.AuthenticationFailed({ ...told, status: error.status }))
  }
}

/**
 * The refusal in a response, if the service did not accept the proof: an authentication code, or a 401 with any other
 * body except a rate limit or a named error.
 */
const refusalIn = (error: Response.Failed["error"]): AuthError.Refusal | undefined =>
  error instanceof ApiError.AuthenticationFailed ||
  ((error instanceof ApiError.ServiceFailure || error instanceof ApiError.UnexpectedResponse) && error.status === 401)
    ? error
    : undefined

/**
 * Makes the function that sends the request of a call and reads its response. Each request has its own proof: a
 * signature with a fresh nonce and expiry, or a token. After a failure, the request is sent again
 *
 * - once in each attempt with another proof, if the service refused the proof and the `Authenticator` may have another;
 * - once in each call with a corrected clock;
 * - as often as the retry policy permits.
 *
 * If a pause would end after the deadline, the call fails with the last error instead.
 */
export const compile = (operation: Operation.Any, environment: Environment) => {
  const { authenticator, baseUrl, maxBytes, skew } = environment
  const { name, nonceIn, retry, scope } = operation
  const read = Response.decoder(operation, maxBytes)
  const isSigned = operation.auth === "signed"
  const need = operation.creates === true ? "creation" : "request"

  return (encoded: Request.Encoded, limits: Limits): Effect.Effect<unknown, Response.Failed["error"]> => {
    const { origin: url, params, path, subject } = encoded
    const { attemptTime, budget, clock, deadline, policy, requestTimeout } = limits
    let { until } = limits
    /** When the attempt must have ended. */
    let attemptUntil = until
    /** The proof of the last request. */
    let proof: Authenticator.Proof | undefined
    let clockSkew = skew.kept
    /** Whether the service has refused a proof of this attempt, and whether the clock was corrected. */
    let isRefused = false
    let isSkewCorrected = false
    /** The failures that the retry policy counts, and its pauses after them. */
    let failures = 0
    let pauseAfter: ReturnType<typeof RetryPolicy.pauses> | undefined

    const timeLeft = () => Math.max(0, attemptUntil - clock.currentTimeMillisUnsafe())

    const timedOut = (millis: number): Effect.Effect<never, Response.Failed> =>
      Effect.fail(Response.failed(new ApiError.TimedOut({ ...subject, after: Duration.millis(millis) })))

    /** Waits for the budget. Only an explicit deadline counts this wait. */
    const admit = (from: Budget.Budget): Effect.Effect<void, Response.Failed> => {
      const begun = clock.currentTimeMillisUnsafe()
      const entered = Exchange.admit(from, { url, need, until: deadline, assemblyId: subject.assemblyId }, subject)
      return Effect.mapBoth(entered, {
        onFailure: Response.failed,
        onSuccess: () => {
          if (deadline !== Infinity) return
          const waited = clock.currentTimeMillisUnsafe() - begun
          until += waited
          attemptUntil += waited
        }
      })
    }

    /** The proof of the next request, if the operation is signed. */
    const prove = (): Effect.Effect<Authenticator.Proof | undefined, Response.Failed> => {
      if (!isSigned) return Effect.undefined
      const now = clock.currentTimeMillisUnsafe()
      const asked = { baseUrl, params, nonceIn, scope, clockSkew: Duration.millis(clockSkew), now }
      const known = Effect.mapErrorEager(authenticator.authenticate(asked), (error) => toFailed(subject, error))
      if (authenticator.isImmediate === true) return known
      const left = timeLeft()
      return Effect.timeoutOrElse(known, { duration: left, orElse: () => timedOut(left) })
    }

    /** The outcome of a response. After a rate limit, all requests with the same budget pause. */
    const readAnswer = (response: Outcome.Gathered): Effect.Effect<unknown, Response.Failed> => {
      const now = clock.currentTimeMillisUnsafe()
      const secrets = () => Request.secretsOf(operation, encoded, proof, authenticator.secrets)
      const answer = read(response, { subject, path, secrets, now })
      const error = Option.getOrUndefined(Exit.findErrorOption(answer))?.error
      if (isSigned && !ClockSkew.isAboutExpiry(error)) ClockSkew.accept(skew, clockSkew, response.headers, now)
      if (budget === undefined || !(error instanceof ApiError.RateLimited)) return answer
      // The wait of a 413 is the time until another Assembly can be created.
      return Effect.andThen(budget.pause(error.status === 413 ? need : "request", error.retryAfter), answer)
    }

    /** Sends a request, and heals its failure. A new attempt has its own time limit; one with another proof has none. */
    const sendOnce = (isNew: boolean): Effect.Effect<unknown, Response.Failed["error"]> => {
      if (isNew) {
        const now = clock.currentTimeMillisUnsafe()
        if (now >= until) return Effect.fail(new ApiError.TimedOut({ operation: name, after: Duration.zero }))
        attemptUntil = Math.min(until, now + attemptTime)
        isRefused = false
      }
      proof = undefined
      const proven = budget === undefined ? prove() : Effect.flatMap(admit(budget), prove)
      return Effect.flatMapEager(proven, (own) => {
        proof = own
        const left = timeLeft()
        const millis = Math.min(left, requestTimeout)
        return Effect.matchEffect(Request.send(operation, encoded, own, environment, { maxBytes, millis, left }), {
          onFailure: (error) =>
            error._tag === "Late" ? timedOut(millis) : Effect.fail(Response.failed(Exchange.toFailure(subject)(error))),
          onSuccess: readAnswer
        })
      }).pipe(Effect.catch(recover))
    }

    /** Repeats the request with another proof, with a corrected clock, or after the pause that the retry policy decides. */
    const recover = ({ error, wait }: Response.Failed): Effect.Effect<unknown, Response.Failed["error"]> =>
      Effect.gen(function* () {
        const refusal = refusalIn(error)
        if (proof !== undefined && refusal !== undefined && !isRefused) {
          isRefused = true
          if ((yield* authenticator.refused(proof, refusal)) === "retry") {
            return yield* Effect.andThen(Telemetry.resent, sendOnce(false))
          }
        }
        const suggested = ClockSkew.suggested(skew, error)
        if (suggested !== undefined && !isSkewCorrected) {
          clockSkew = suggested
          isSkewCorrected = true
          yield* authenticator.corrected?.(Duration.millis(suggested)) ?? Effect.void
          return yield* Effect.andThen(Telemetry.resent, sendOnce(true))
        }
        const failed = { operation: name, retry, error }
        // The next request waits in the budget, so this failure uses up no attempt.
        const isHeld = Budget.holds(budget, error)
        if (!isHeld) failures++
        pauseAfter ??= RetryPolicy.pauses(policy)
        const pause = isHeld
          ? yield* RetryPolicy.pauses(policy)({ ...failed, failures: 1, wait: Option.some(Duration.zero) })
          : yield* pauseAfter({ ...failed, failures, wait })
        const now = clock.currentTimeMillisUnsafe()
        if (Option.isNone(pause) || now + Duration.toMillis(pause.value) >= until) return yield* Effect.fail(error)
        yield* Telemetry.retried(name, error)
        yield* Effect.sleep(pause.value)
        return yield* sendOnce(true)
      })

    return sendOnce(true)
  }
}
